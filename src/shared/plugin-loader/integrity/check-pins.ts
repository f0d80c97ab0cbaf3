import { fileURLToPath } from 'node:url';
import type { PluginCode } from '../code/plugin-code.ts';
import { folderOfEntry, type PackageDigest, packageDigest } from './package-digest.ts';

/** Integrity hashes by the entries of `plugins` that they are for: the setting `plugins_integrity`. */
export type PluginPins = ReadonlyMap<string, string>;

/** Checks a pinned plugin before any of its code runs. Null: it is not pinned. Throws an `Error` of one line. */
export function checkPin(entry: string, file: string, base: string, pins: PluginPins): PackageDigest | null {
  const expected = pins.get(entry);
  if (expected === undefined) return null;
  const digest = packageDigest(folderOfEntry(entry, file, base));
  if (digest.integrity === expected) return digest;
  throw new Error(
    `plugins: '${entry}' is not what plugins_integrity pins: expected ${expected}, found ${digest.integrity} in ${digest.folder}`,
  );
}

/** Throws for a pin of a plugin that is not named: it would protect nothing. */
export function checkPinNames(pins: PluginPins, setting: readonly string[]): void {
  for (const entry of pins.keys()) {
    if (!setting.includes(entry)) throw new Error(`plugins_integrity: '${entry}' is not an entry of plugins`);
  }
}

/**
 * Checks that the recorded code of a pinned plugin is what was hashed: files can change between the two, and a plugin can import
 * modules outside of its folder.
 */
export function checkRecorded(entry: string, { modules }: PluginCode, { files, folder }: PackageDigest): void {
  for (const [url, { digest }] of modules) {
    const path = fileURLToPath(url);
    const pinned = files.get(path);
    if (pinned === undefined)
      throw new Error(`plugins: '${entry}' is pinned, and imports ${path} outside of ${folder}`);
    if (pinned !== digest) throw new Error(`plugins: '${entry}' changed while it was loaded (${path})`);
  }
}
