import { type BaseContext, type EntityRow, outageReporter, type PluginTools } from '../../plugin-sdk/index.ts';
import type { DataMaskingConfig } from './schema.ts';

/** Tells which rules do not hold for the client of a request: bit n for rule n. */
export type Exceptions = (context: BaseContext) => number | Promise<number>;

/**
 * A client is in the groups that `acl` would see it in. When they cannot be looked up, no rule is lifted. Null: no rule has exceptions.
 */
export function exceptionsOf(config: DataMaskingConfig, tools: PluginTools): Exceptions | null {
  const bits = new Map<string, number>();
  for (const [at, { except_groups }] of config.rules.entries()) {
    for (const group of except_groups ?? []) bits.set(group, (bits.get(group) ?? 0) | (1 << at));
  }
  if (bits.size === 0) return null;
  const always = config.always_use_authenticated_groups;
  const liftedFor = (groups: readonly string[]) => groups.reduce((lifted, group) => lifted | (bits.get(group) ?? 0), 0);
  const ofRows = new WeakMap<readonly EntityRow[], number>();
  const liftedByRows = (rows: readonly EntityRow[]): number => {
    let lifted = ofRows.get(rows);
    if (lifted === undefined) {
      lifted = liftedFor(rows.map((row) => row['group']).filter((group) => typeof group === 'string'));
      ofRows.set(rows, lifted);
    }
    return lifted;
  };
  const report = outageReporter(tools, 'unknown_groups', 'the groups of a consumer are not known: no rule is lifted');
  const unknown = (error: unknown): number => {
    report(error);
    return 0;
  };
  return ({ client }) => {
    const authenticated = client.details?.groups ?? null;
    if (authenticated !== null && (client.consumer === null || always)) return liftedFor(authenticated);
    if (client.consumer === null) return 0;
    try {
      const rows = tools.entities.list('acls', 'consumer', client.consumer.id);
      return rows instanceof Promise ? rows.then(liftedByRows).catch(unknown) : liftedByRows(rows);
    } catch (error) {
      return unknown(error);
    }
  };
}
