import type { ParsedListen } from './kinds/listen.ts';
import { definitions, settingNames } from './schema.ts';

const mask = '******';

/**
 * The `configuration` of `GET /`: every setting under Kong's name, secrets masked, and for each `*_listen` the parsed
 * `*_listeners` that clients read.
 */
export function publicSettings(
  values: Readonly<Record<string, unknown>>,
  texts: Readonly<Record<string, string>>,
): Readonly<Record<string, unknown>> {
  const shown: Record<string, unknown> = {};
  for (const name of settingNames) {
    const value = values[name];
    const show = definitions[name].kind.show(value, texts[name] ?? '');
    shown[name] = definitions[name].secret ? masked(show) : show;
    if (name.endsWith('_listen')) shown[`${name}ers`] = listenersOf(value);
  }
  // Clients accept two words here: `postgres` for "the Admin API can write", `off` for "it cannot".
  shown['database'] = values['database'] === 'off' ? 'off' : 'postgres';
  shown['database_engine'] = values['database'];
  return Object.freeze(shown);
}

function masked(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(() => mask);
  return value === null || value === '' ? null : mask;
}

function listenersOf(value: unknown): readonly unknown[] {
  return isParsedListen(value) ? value.map((entry) => entry.shown) : [];
}

function isParsedListen(value: unknown): value is readonly ParsedListen[] {
  return Array.isArray(value);
}
