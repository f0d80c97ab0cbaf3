import type { Plugin, SchemaNode } from '../plugin-sdk/define-plugin.ts';
import { record } from '../shared/schema/record.ts';
import { validateRecord } from '../shared/schema/validate.ts';
import { violationMessage } from '../shared/schema/violation-message.ts';

export type ConfigCheck =
  | { readonly ok: true; readonly config: Readonly<Record<string, unknown>> }
  /** `message`: that of the Admin API. */
  | { readonly ok: false; readonly message: string };

/** Validates a configuration as the Admin API does, and fills in its defaults. */
export async function checkConfig(
  plugin: Plugin,
  config: Readonly<Record<string, unknown>>,
  node: SchemaNode,
): Promise<ConfigCheck> {
  const { config: fields, checks = [], nodeChecks } = await plugin.loadSchema();
  const all = nodeChecks === undefined ? checks : [...checks, ...nodeChecks(node)];
  const result = validateRecord(record({ config: fields }, { checks: all }), { config });
  if (!result.ok) return { ok: false, message: violationMessage(result.error.fields) };
  return { ok: true, config: result.value.config as Readonly<Record<string, unknown>> };
}
