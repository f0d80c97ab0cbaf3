import { readFileSync } from 'node:fs';
import { findSetting } from '../schema.ts';
import { isServiceLink } from '../service-link.ts';
import { SettingsError } from '../settings-error.ts';
import { noMeaning } from './file-layer.ts';
import type { Layer, Written } from './layer.ts';
import { hintFor, setOnce } from './layer.ts';
import { isMeaningless } from './unsupported.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

type Prefix = 'KONG_' | 'SLUICEGATE_';

const fileSuffix = '_FILE';

/** Settings from `KONG_*` and `SLUICEGATE_*`; the latter take precedence. */
export function layerFromEnvironment(env: Environment, warnings: string[]): Layer {
  return new Map([...layerOf(env, 'KONG_', warnings), ...layerOf(env, 'SLUICEGATE_', warnings)]);
}

function layerOf(env: Environment, prefix: Prefix, warnings: string[]): Layer {
  const layer: Layer = new Map();
  const meaningless: string[] = [];
  for (const [variable, value] of Object.entries(env)) {
    if (value === undefined || !variable.startsWith(prefix) || isServiceLink(variable, value)) continue;
    const key = variable.slice(prefix.length).toLowerCase();
    const name = findSetting(key) ?? findSetting(withoutFileSuffix(key));
    if (name !== null) {
      setOnce(layer, name, written(env, variable, value, findSetting(key) === null));
    } else if (prefix === 'SLUICEGATE_') {
      throw new SettingsError(`unknown setting ${variable}${hintFor(key, (guess) => prefix + guess.toUpperCase())}`);
    } else if (isMeaningless(key)) {
      meaningless.push(variable);
    } else {
      const hint = hintFor(key, (guess) => prefix + guess.toUpperCase());
      warnings.push(`${variable} is not a known setting and is ignored${hint}`);
    }
  }
  if (meaningless.length > 0) warnings.push(`${meaningless.join(', ')} ${noMeaning(meaningless.length)}`);
  return layer;
}

function written(env: Environment, variable: string, value: string, isFile: boolean): Written {
  if (!isFile) return { text: value, origin: variable };
  const plain = variable.slice(0, -fileSuffix.length);
  if (env[plain] !== undefined) {
    throw new SettingsError(`both ${plain} and ${variable} are set (but are exclusive)`);
  }
  try {
    return { text: readFileSync(value, 'utf8').replace(/[\r\n]+$/, ''), origin: variable };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new SettingsError(`${variable} names a file that cannot be read: ${reason}`);
  }
}

function withoutFileSuffix(key: string): string {
  return key.endsWith('_file') ? key.slice(0, -fileSuffix.length) : '';
}
