import { ipSet } from '../../../../shared/util/net/ip-set.ts';
import type { TrafficFilter } from '../../../traffic/traffic-filter.ts';
import type { Query } from '../../http/query.ts';
import { refuseUnknown } from '../../lists/known-parameters.ts';
import { invalidOptions } from '../../lists/list-errors.ts';
import { readInstant } from '../../lists/list-request.ts';

/** Values of one filter. */
const maxValues = 50;
const maxMilliseconds = 3_600_000;

const instant = {
  anyOf: [
    { type: 'string', format: 'date-time' },
    { type: 'integer', minimum: 0, maximum: 253_402_300_799 },
  ],
};

export const filterParameters = [
  {
    name: 'route',
    description: 'Only requests of the route with this id or name; empty: of none. May come repeatedly.',
  },
  { name: 'service', description: 'Only requests of the service with this id or name; as `route`.' },
  { name: 'consumer', description: 'Only requests of the consumer with this id, username or custom_id; as `route`.' },
  {
    name: 'status',
    description: 'Only answers with these statuses: `404`, `5xx`, or a comma-separated list.',
    schema: { type: 'string', pattern: '^[1-5](?:xx|[0-9]{2})(?:,[1-5](?:xx|[0-9]{2}))*$' },
  },
  {
    name: 'method',
    description: 'Only requests with this method. May come repeatedly.',
    schema: { type: 'string', pattern: '^[A-Z]+$' },
  },
  {
    name: 'path',
    description: 'Only requests whose path begins with this. May come repeatedly.',
    schema: { type: 'string', pattern: '^/' },
  },
  {
    name: 'client',
    description: 'Only requests of this address or CIDR range. May come repeatedly.',
    schema: { type: 'string', pattern: '^[0-9A-Fa-f.:]+(?:/[0-9]{1,3})?$' },
  },
  {
    name: 'min_duration',
    description: 'Only requests that took at least so many milliseconds.',
    schema: { type: 'integer', minimum: 0, maximum: maxMilliseconds },
  },
] as const;

export const timeParameters = [
  {
    name: 'since',
    description: 'Only requests that began at this time or later: ISO 8601, or seconds since the epoch.',
    schema: instant,
  },
  { name: 'until', description: 'Only requests that began before this time.', schema: instant },
] as const;

export interface TrafficRequest {
  readonly filter: TrafficFilter;
  /** All filters as the client wrote them, for links to further pages. */
  readonly given: readonly (readonly [name: string, value: string])[];
}

/** `filters`: those of the path. `others`: further parameters of the path. */
export function readTrafficRequest(
  query: Query,
  filters: readonly { readonly name: string }[],
  others: readonly string[],
): TrafficRequest {
  const names = filters.map(({ name }) => name);
  refuseUnknown(query, [...names, ...others]);
  for (const name of names) {
    if (query.all(name).length > maxValues)
      throw invalidOptions({ [name]: `must not be given more than ${maxValues} times` });
  }
  const filter: TrafficFilter = {
    routes: query.all('route'),
    services: query.all('service'),
    consumers: query.all('consumer'),
    statuses: readStatuses(query.all('status')),
    methods: query.all('method').map((method) => method.toUpperCase()),
    paths: query.all('path'),
    clients: readClients(query.all('client')),
    since: readTime(query, 'since'),
    until: readTime(query, 'until'),
    minDuration: readDuration(query),
  };
  return { filter, given: names.flatMap((name) => query.all(name).map((value) => [name, value] as const)) };
}

/** `404`, `5xx`. */
function readStatuses(given: readonly string[]): TrafficFilter['statuses'] {
  const words = given.flatMap((text) => text.split(',')).map((word) => word.trim().toLowerCase());
  if (words.length > maxValues) throw invalidOptions({ status: `must not name more than ${maxValues}` });
  return words.map((word): readonly [number, number] => {
    if (/^[1-5]xx$/.test(word)) return [Number(word[0]) * 100, Number(word[0]) * 100 + 99];
    if (/^[1-5]\d\d$/.test(word)) return [Number(word), Number(word)];
    throw invalidOptions({ status: `'${word}' is neither a status nor a class such as 5xx` });
  });
}

function readClients(given: readonly string[]): TrafficFilter['clients'] {
  if (given.length === 0) return null;
  try {
    return ipSet(given);
  } catch (error) {
    throw invalidOptions({ client: error instanceof Error ? error.message : 'is no address' });
  }
}

function readTime(query: Query, name: string): number | null {
  const text = readOnce(query, name);
  if (text === undefined) return null;
  const time = /^\d{1,12}(?:\.\d{1,9})?$/.test(text) ? Number(text) * 1000 : readInstant(text);
  if (time === null) throw invalidOptions({ [name]: 'must be an ISO 8601 timestamp, or seconds since the epoch' });
  return time;
}

function readDuration(query: Query): number {
  const text = readOnce(query, 'min_duration') ?? '0';
  const duration = /^\d{1,7}(?:\.\d{1,6})?$/.test(text) ? Number(text) : Number.POSITIVE_INFINITY;
  if (duration > maxMilliseconds) {
    throw invalidOptions({ min_duration: `must be a number of milliseconds between 0 and ${maxMilliseconds}` });
  }
  return duration;
}

function readOnce(query: Query, name: string): string | undefined {
  const values = query.all(name);
  if (values.length > 1) throw invalidOptions({ [name]: 'must be given once' });
  return values[0];
}
