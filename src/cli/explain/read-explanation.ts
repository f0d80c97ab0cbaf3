import { isJsonObject, type JsonObject, type JsonValue } from '../../plugin-kit/json/json.ts';

/** The gateway's explanation of a request (docs/explain.md). */
export type Explanation = JsonObject;

/** Null: the body is not an explanation. */
export function readExplanation(body: string): Explanation | null {
  try {
    const value: JsonValue = JSON.parse(body);
    return isJsonObject(value) && value['explain'] === 1 ? value : null;
  } catch {
    return null;
  }
}

export function isRouted(explanation: Explanation): boolean {
  return member(explanation['router'], 'matched') !== null;
}

/** Null: there is no such member, or the value is not an object. */
export function member(value: JsonValue | undefined, name: string): JsonValue {
  return isJsonObject(value) ? (value[name] ?? null) : null;
}

/** The text of a scalar; '' for null and for any other value. */
export function text(value: JsonValue | undefined): string {
  return value === null || value === undefined || typeof value === 'object' ? '' : String(value);
}

export function list(value: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(value) ? value : [];
}

/** Texts of a list, joined. */
export function joined(value: JsonValue | undefined, separator = ', '): string {
  return list(value).map(text).join(separator);
}
