import type { UsageKey, UsageName, UsageQuery, UsageRow } from '../../store/usage-store.ts';
import { type Check, fail, integer, list, number, object, oneOf, text, word } from './check-values.ts';

const resolution = oneOf('minute', 'hour', 'day');
const order = oneOf('asc', 'desc');
const filters = ['node', 'route', 'service', 'consumer', 'version'] as const;
const wanted = list(text(4096), 1000);
const data = text(256 * 1024);
const shortText = text(4096);

export const usageKey: Check<UsageKey> = (given, name) => {
  const fields = object(given, name);
  const member = (key: string): string => shortText(fields[key], `${name}.${key}`);
  return {
    resolution: resolution(fields['resolution'], `${name}.resolution`),
    start: integer(0)(fields['start'], `${name}.start`),
    node: member('node'),
    route: member('route'),
    service: member('service'),
    consumer: member('consumer'),
    version: member('version'),
    status: integer(0, 999)(fields['status'], `${name}.status`),
  };
};

export const usageRow: Check<UsageRow> = (given, name) => ({
  ...usageKey(given, name),
  data: data(object(given, name)['data'], `${name}.data`),
});

export const usageName: Check<UsageName> = (given, name) => {
  const fields = object(given, name);
  return {
    kind: word(fields['kind'], `${name}.kind`),
    id: word(fields['id'], `${name}.id`),
    name: shortText(fields['name'], `${name}.name`),
    seen: integer(0)(fields['seen'], `${name}.seen`),
  };
};

export const usageQuery: Check<UsageQuery> = (given, name) => {
  const fields = object(given, name);
  const where: Partial<Record<(typeof filters)[number], readonly string[]>> = {};
  const filter = fields['where'] === undefined ? {} : object(fields['where'], `${name}.where`);
  for (const field of filters) {
    if (filter[field] !== undefined) where[field] = wanted(filter[field], `${name}.where.${field}`);
  }
  return {
    resolution: resolution(fields['resolution'], `${name}.resolution`),
    from: number(fields['from'], `${name}.from`),
    to: number(fields['to'], `${name}.to`),
    limit: integer(0, 10_000)(fields['limit'], `${name}.limit`),
    where,
    ...(fields['statuses'] === undefined ? {} : { statuses: list(range, 100)(fields['statuses'], `${name}.statuses`) }),
    ...(fields['order'] === undefined ? {} : { order: order(fields['order'], `${name}.order`) }),
    ...(fields['after'] === undefined ? {} : { after: usageKey(fields['after'], `${name}.after`) }),
  };
};

const range: Check<readonly [number, number]> = (given, name) => {
  const [least, greatest, ...more] = list(number, 2)(given, name);
  if (least === undefined || greatest === undefined || more.length > 0) fail(name, 'a range');
  return [least, greatest];
};
