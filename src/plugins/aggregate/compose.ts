import type { JsonObject, JsonValue } from '../../plugin-kit/json/index.ts';
import { compileJsonPath, isJsonObject, isRfc9535, setMember } from '../../plugin-kit/json/index.ts';
import { LargeText } from './large-text.ts';
import { TemplateError } from './values/reference.ts';

/** Names from the root to the place of a value; empty: its members become members of the root. */
export type Target = readonly string[];

/** Reads `$.user.orders`, in the old spelling `user.orders`; `$`, `.` and '' are the root. Throws a `TemplateError`. */
export function parseTarget(text: string): Target {
  if (text === '' || text === '.' || text === '$') return [];
  const path = isRfc9535(text) ? compileJsonPath(text).names : null;
  if (path !== null) return path;
  const names = text.replace(/^\$\./, '').split('.');
  if (names.some((name) => !/^[^[\]{}\s'"]+$/.test(name))) {
    throw new TemplateError(`'${text}' must be names joined by dots, or . for the root`);
  }
  return names;
}

/**
 * Puts a value into the document. Missing objects on the way are created, and replace null: a missing part does not block
 * the parts within it. False: another value is in the way, or a value for the root is not an object.
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
      // Other parts refer to the value of this part: it must not change.
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
