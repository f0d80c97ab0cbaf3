import { bundledDefinitions } from '../../plugins/definitions.ts';

/** The entries of the setting `plugins` that name plugins of users. */
export function ownEntries(setting: readonly string[]): readonly string[] {
  return setting.filter((entry) => entry !== 'off' && entry !== 'bundled' && !bundledDefinitions.has(entry));
}
