import { record } from '../../schema/record.ts';
import { validateRecord } from '../../schema/validate.ts';
import { violationMessage } from '../../schema/violation-message.ts';
import type { Plugin } from '../define-plugin.ts';

export type ConfigCheck =
  | { readonly ok: true; readonly config: Readonly<Record<string, unknown>> }
  /** `message`: what the Admin API says. */
  | { readonly ok: false; readonly message: string };

/** Validates a configuration as the Admin API does, and fills in its defaults. */
export async function checkConfig(plugin: Plugin, config: Readonly<Record<string, unknown>>): Promise<ConfigCheck> {
  const { config: fields, checks = [] } = await plugin.loadSchema();
  const result = validateRecord(record({ config: fields }, { checks }), { config });
  if (!result.ok) return { ok: false, message: violationMessage(result.error.fields) };
  return { ok: true, config: result.value.config as Readonly<Record<string, unknown>> };
}
