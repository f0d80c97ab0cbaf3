import type { Row } from '../../../shared/entities/entity.ts';
import { foreignId, text } from '../../../shared/entities/row-fields.ts';

/** Where a request goes, and whose it is. Null: unknown. */
export interface Scope {
  readonly route: string | null;
  readonly service: string | null;
  readonly consumer: string | null;
}

const weights = { consumer: 4, route: 2, service: 1 } as const;
const fields = ['consumer', 'route', 'service'] as const;

/**
 * The plugin instances that run for a scope: of each plugin the most specific one, in Kong's precedence. Two of three references precede
 * one, and of the same number the consumer precedes the route, which precedes the service.
 */
export function effectivePlugins(plugins: readonly Row[], scope: Scope): ReadonlyMap<string, Row> {
  const found = new Map<string, { readonly row: Row; readonly rank: number }>();
  for (const row of plugins) {
    if (row['enabled'] === false) continue;
    const set = fields.filter((field) => foreignId(row, field) !== null);
    if (!set.every((field) => foreignId(row, field) === scope[field])) continue;
    const rank = set.length * 8 + set.reduce((sum, field) => sum + weights[field], 0);
    const name = text(row, 'name') ?? '';
    const best = found.get(name);
    if (best === undefined || best.rank < rank) found.set(name, { row, rank });
  }
  return new Map([...found].map(([name, { row }]) => [name, row]));
}
