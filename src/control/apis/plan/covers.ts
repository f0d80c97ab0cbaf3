import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type JsonValue } from '../../../plugin-kit/json/index.ts';

/** True when the value contains everything that is wanted; a record may have more fields, such as defaults. An empty list may be null. */
export function covers(value: JsonValue, wanted: JsonValue): boolean {
  if (Array.isArray(wanted) && wanted.length === 0 && value === null) return true;
  if (!isJsonObject(wanted) || !isJsonObject(value)) return isDeepStrictEqual(value, wanted);
  return Object.entries(wanted).every(([name, one]) =>
    covers(Object.hasOwn(value, name) ? (value[name] ?? null) : null, one),
  );
}
