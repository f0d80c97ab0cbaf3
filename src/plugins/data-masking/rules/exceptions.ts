import { outageReporter } from '../../../plugin-kit/logging/index.ts';
import type { BaseContext, EntityRow, PluginTools } from '../../../plugin-sdk/index.ts';
import type { DataMaskingConfig } from '../schema.ts';

/** Returns the rules that do not apply to the client of a request: bit n for rule n. */
export type Exceptions = (context: BaseContext) => number | Promise<number>;

/**
 * Uses the same groups of a client as `acl`. If they cannot be looked up, all rules apply. Null: no rule has exceptions.
 */
export function compileExceptions(config: DataMaskingConfig, tools: PluginTools): Exceptions | null {
  const bits = new Map<string, number>();
  for (const [at, { except_groups }] of config.rules.entries()) {
    for (const group of except_groups ?? []) bits.set(group, (bits.get(group) ?? 0) | (1 << at));
  }
  if (bits.size === 0) return null;
  const always = config.always_use_authenticated_groups;
  const exemptedFor = (groups: readonly string[]) =>
    groups.reduce((exempted, group) => exempted | (bits.get(group) ?? 0), 0);
  const cachedByRows = new WeakMap<readonly EntityRow[], number>();
  const exemptedByRows = (rows: readonly EntityRow[]): number => {
    let exempted = cachedByRows.get(rows);
    if (exempted === undefined) {
      exempted = exemptedFor(rows.map((row) => row['group']).filter((group) => typeof group === 'string'));
      cachedByRows.set(rows, exempted);
    }
    return exempted;
  };
  const report = outageReporter(
    tools,
    'unknown_groups',
    'the groups of a consumer cannot be looked up; applying all rules',
  );
  const lookupFailed = (error: unknown): number => {
    report(error);
    return 0;
  };
  return ({ client }) => {
    const authenticated = client.details?.groups ?? null;
    if (authenticated !== null && (client.consumer === null || always)) return exemptedFor(authenticated);
    if (client.consumer === null) return 0;
    try {
      const rows = tools.entities.list('acls', 'consumer', client.consumer.id);
      return rows instanceof Promise ? rows.then(exemptedByRows).catch(lookupFailed) : exemptedByRows(rows);
    } catch (error) {
      return lookupFailed(error);
    }
  };
}
