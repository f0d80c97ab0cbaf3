import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { findSetting } from '../schema.ts';
import { SettingsError } from '../settings-error.ts';
import { parseConfFile } from './conf-file.ts';
import type { Layer } from './layer.ts';
import { hintFor, setOnce } from './layer.ts';
import { isMeaningless } from './unsupported.ts';

/**
 * The file to read: the given one, else the first that exists of `./sluicegate.conf`, `/etc/sluicegate/sluicegate.conf`
 * and `/etc/sluicegate.conf`; null when there is none.
 */
export function findConfFile(given: string | undefined, cwd: string): string | null {
  if (given !== undefined) {
    const path = resolve(cwd, given);
    if (!existsSync(path)) throw new SettingsError(`no file at: ${path}`);
    return path;
  }
  const places = [join(cwd, 'sluicegate.conf'), '/etc/sluicegate/sluicegate.conf', '/etc/sluicegate.conf'];
  return places.find((path) => existsSync(path)) ?? null;
}

export function layerFromFile(path: string, warnings: string[]): Layer {
  const layer: Layer = new Map();
  const meaningless: string[] = [];
  for (const entry of parseConfFile(path, read(path))) {
    const origin = `${path} line ${entry.line}`;
    const name = findSetting(entry.name.toLowerCase());
    if (name !== null) {
      setOnce(layer, name, { text: entry.text, origin });
    } else if (isMeaningless(entry.name)) {
      meaningless.push(entry.name);
    } else {
      throw new SettingsError(`${origin}: unknown setting '${entry.name}'${hintFor(entry.name, (guess) => guess)}`);
    }
  }
  if (meaningless.length > 0) warnings.push(`${path}: ${meaningless.join(', ')} ${noMeaning(meaningless.length)}`);
  return layer;
}

/** The end of the warning about settings of Kong without an effect. */
export function noMeaning(count: number): string {
  return count === 1 ? 'has no meaning here and is ignored' : 'have no meaning here and are ignored';
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new SettingsError(`cannot read ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
