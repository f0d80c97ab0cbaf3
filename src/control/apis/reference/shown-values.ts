import type { JsonObject, JsonValue } from '../../../plugin-kit/json/index.ts';

const maxText = 20_000;
const maxValue = 4_000;

/** A text field, in a length that a page can show; null: there is none. */
export function textIn(object: JsonObject, name: string): string | null {
  const value = Object.hasOwn(object, name) ? object[name] : undefined;
  return typeof value === 'string' && value !== '' ? value.slice(0, maxText) : null;
}

/** As JSON, indented where it has several members. */
export function shownValue(value: JsonValue): string {
  const text = JSON.stringify(value, null, typeof value === 'object' ? 2 : 0);
  return text.length > maxValue ? `${text.slice(0, maxValue)}…` : text;
}
