import { isJsonObject, type JsonObject, type JsonValue, setMember } from '../../plugin-sdk/index.ts';
import { LargeText } from './large-text.ts';
import { TemplateError } from './reference.ts';

/** Names from the root to where a value lands; empty: its members become members of the root. */
export type Target = readonly string[];

/** Reads `user.orders`; `.` and '' are the root. Throws a `TemplateError`. */
export function parseTarget(text: string): Target {
  if (text === '' || text === '.' || text === '$') return [];
  const names = text.replace(/^\$\./, '').split('.');
  if (names.some((name) => !/^[^[\]{}\s'"]+$/.test(name))) {
    throw new TemplateError(`'${text}' must be names joined by dots, or . for the root`);
  }
  return names;
}

/**
 * Puts a value into the document. Objects on the way are made where nothing is, and where null is: a part that is missing does
 * not take the others' places. False: something else is there, or what should become members of the root has none.
 */
export function place(root: JsonObject, target: Target, value: JsonValue): boolean {
  if (target.length === 0) return merge(root, value);
  let object = root;
  for (let at = 0; at < target.length - 1; at++) {
    const name = target[at]!;
    let next = Object.hasOwn(object, name) ? object[name] : null;
    if (next === null || next === undefined) {
      next = {};
      setMember(object, name, next);
    } else if (isJsonObject(next) && !(next instanceof LargeText)) {
      // What an answer gave stays as it was for those that refer to it.
      next = { ...next };
      setMember(object, name, next);
    } else return false;
    object = next;
  }
  setMember(object, target.at(-1)!, value);
  return true;
}

function merge(root: JsonObject, value: JsonValue): boolean {
  if (value === null) return true;
  if (!isJsonObject(value) || value instanceof LargeText) return false;
  for (const [name, member] of Object.entries(value)) setMember(root, name, member);
  return true;
}
