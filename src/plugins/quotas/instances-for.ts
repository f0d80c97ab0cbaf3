import { type EntityRow, foreignIdOf } from '../../plugin-sdk/index.ts';

/**
 * The instances of this plugin that count requests of a consumer by the consumer. An instance that more specific ones replace
 * everywhere, for this consumer, is omitted.
 */
export function instancesFor(plugins: readonly EntityRow[], consumer: string): readonly EntityRow[] {
  const enabled = plugins.filter(
    (row) =>
      row['name'] === 'quotas' && row['enabled'] !== false && [null, consumer].includes(foreignIdOf(row, 'consumer')),
  );
  return enabled.filter((row) => countsByConsumer(row) && !enabled.some((other) => standsBefore(other, row)));
}

function countsByConsumer(row: EntityRow): boolean {
  const config = row['config'] as { readonly limit_by?: unknown };
  return config.limit_by === 'consumer';
}

function standsBefore(one: EntityRow, other: EntityRow): boolean {
  if (rank(one) >= rank(other)) return false;
  return ['route', 'service'].every((field) => {
    const place = foreignIdOf(one, field);
    return place === null || place === foreignIdOf(other, field);
  });
}

/** Kong's order of scopes; the first one that matches a request runs. */
const order = [
  'route service consumer',
  'route consumer',
  'service consumer',
  'route service',
  'consumer',
  'route',
  'service',
];

function rank(row: EntityRow): number {
  const scope = ['route', 'service', 'consumer'].filter((field) => foreignIdOf(row, field) !== null).join(' ');
  const at = order.indexOf(scope);
  return at < 0 ? order.length : at;
}
