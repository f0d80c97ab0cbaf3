import { suggest } from '../../util/suggest.ts';
import type { SettingName } from '../schema.ts';
import { acceptedNames, findSetting } from '../schema.ts';
import { SettingsError } from '../settings-error.ts';

/** A setting as it was written. */
export interface Written {
  readonly text: string;
  /** Where: `KONG_LOG_LEVEL`, `--log-level`, `/etc/sluicegate.conf line 3`. */
  readonly origin: string;
}

/** The settings of one source (file, environment, flags). */
export type Layer = Map<SettingName, Written>;

/** Adds a setting to a layer; rejects the same setting under two of its names. */
export function setOnce(layer: Layer, name: SettingName, written: Written): void {
  const earlier = layer.get(name);
  if (earlier !== undefined && earlier.text !== written.text) {
    throw new SettingsError(`${earlier.origin} and ${written.origin} set the same setting (${name}); keep one of them`);
  }
  layer.set(name, written);
}

/** `(did you mean x?)` with a leading space, or nothing. */
export function hintFor(name: string, spell: (name: string) => string): string {
  const guess = suggest(name, acceptedNames());
  return guess === null ? '' : ` (did you mean ${spell(guess)}?)`;
}

/** Flags by setting name: `{ 'proxy-listen': '127.0.0.1:0' }`. */
export function layerFromFlags(flags: Readonly<Record<string, string>>): Layer {
  const layer: Layer = new Map();
  for (const [flag, text] of Object.entries(flags)) {
    const name = findSetting(flag.replaceAll('-', '_'));
    if (name === null) {
      const hint = hintFor(flag.replaceAll('-', '_'), (guess) => `--${guess.replaceAll('_', '-')}`);
      throw new SettingsError(`unknown option --${flag}${hint || ' (see sluicegate help settings)'}`);
    }
    setOnce(layer, name, { text, origin: `--${flag}` });
  }
  return layer;
}

/** Settings by name: `{ log_level: 'debug' }`. */
export function layerFromCode(given: Readonly<Record<string, string>>): Layer {
  const layer: Layer = new Map();
  for (const [written, text] of Object.entries(given)) {
    const name = findSetting(written);
    if (name === null) throw new SettingsError(`unknown setting '${written}'${hintFor(written, (guess) => guess)}`);
    setOnce(layer, name, { text, origin: `settings.${written}` });
  }
  return layer;
}
