import { SettingsError } from '../settings-error.ts';
import { parseDuration, parseSize } from './units.ts';

/** How the text of a setting is converted to a value. */
export interface Kind<T> {
  /** Its name in the reference and in `--help`: `boolean`, `size`, `list of ...`. */
  readonly label: string;
  /** Throws a `SettingsError` that names the setting. */
  parse(name: string, text: string): T;
  /** The form in which `configuration` of `GET /` shows it. */
  show(value: T, text: string): unknown;
}

export const boolean: Kind<boolean> = {
  label: 'on or off',
  parse(name, text) {
    const word = text.toLowerCase();
    if (word === 'on' || word === 'true' || word === 'yes') return true;
    if (word === 'off' || word === 'false' || word === 'no') return false;
    throw new SettingsError(`${name} is not a boolean: '${text}'`);
  },
  show: (value) => value,
};

export const string: Kind<string> = {
  label: 'text',
  parse(name, text) {
    if (text === '') throw new SettingsError(`${name} must not be empty`);
    return text;
  },
  show: (value) => value,
};

/** Empty means absent. */
export const optionalString: Kind<string | null> = {
  label: 'text',
  parse: (_name, text) => (text === '' ? null : text),
  show: (value) => value,
};

export function integer(min: number, max: number): Kind<number> {
  return {
    label: `integer from ${min} to ${max}`,
    parse(name, text) {
      if (!/^-?\d+$/.test(text)) throw new SettingsError(`${name} is not a number: '${text}'`);
      const value = Number(text);
      if (value < min || value > max) throw new SettingsError(`${name} must be from ${min} to ${max}, not ${text}`);
      return value;
    },
    show: (value) => value,
  };
}

export function oneOf<const T extends string>(
  values: readonly T[],
  hints: Readonly<Record<string, string>> = {},
): Kind<T> {
  return {
    label: values.map((value) => `\`${value}\``).join(', '),
    parse(name, text) {
      const found = values.find((value) => value === text);
      if (found !== undefined) return found;
      const hint = hints[text];
      const message = `${name} has an invalid value: '${text}' (${values.join(', ')})`;
      throw new SettingsError(hint === undefined ? message : `${message}: ${hint}`);
    },
    show: (value) => value,
  };
}

/** Milliseconds. A bare number counts in `bareUnit`, as in Kong and nginx for that setting. */
export function duration(bareUnit: 'ms' | 's'): Kind<number> {
  return {
    label: `time (\`500ms\`, \`60s\`, \`1m\`); a bare number is ${bareUnit === 's' ? 'seconds' : 'milliseconds'}`,
    parse(name, text) {
      const value = parseDuration(text, bareUnit);
      if (value === null) throw new SettingsError(`${name} is not a time: '${text}' (write 500ms, 60s, 1m or 30d)`);
      return value;
    },
    show: showAsWritten,
  };
}

/** Empty means absent. */
export function optionalDuration(bareUnit: 'ms' | 's'): Kind<number | null> {
  const given = duration(bareUnit);
  return {
    label: given.label,
    parse: (name, text) => (text === '' ? null : given.parse(name, text)),
    show: (value, text) => (value === null ? null : given.show(value, text)),
  };
}

/** Bytes. */
export const size: Kind<number> = {
  label: 'size (`8k`, `10m`, `1g`, or bytes)',
  parse(name, text) {
    const value = parseSize(text);
    if (value === null) throw new SettingsError(`${name} is not a size: '${text}' (write 8k, 10m or 1g)`);
    return value;
  },
  show: (_value, text) => text,
};

export const list: Kind<readonly string[]> = {
  label: 'list, separated by commas',
  parse: (_name, text) => splitList(text),
  show: (value) => value,
};

/** Kong shows numbers as numbers and values with a unit as they were written. */
function showAsWritten(_value: number, text: string): unknown {
  return /^\d+$/.test(text) ? Number(text) : text;
}

export function splitList(text: string): readonly string[] {
  return text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');
}
