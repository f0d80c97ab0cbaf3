import { isJsonNumber, type JsonValue, jsonText, parseJson } from './json.ts';
import { jsonField } from './json-field.ts';
import { hasRepeatedNames } from './json-names.ts';

export type JsonValueType = 'string' | 'number' | 'boolean';

/** One change of a JSON document. It can be sent to another thread. */
export type JsonChange =
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'rename'; readonly name: string; readonly to: string }
  | {
      readonly kind: 'replace' | 'add' | 'append';
      readonly name: string;
      readonly value: string;
      readonly type: JsonValueType;
    };

/** A value that is not of the requested type. */
export class JsonValueError extends Error {
  constructor(name: string, type: JsonValueType) {
    super(`the value for ${name} is not a ${type}`);
    this.name = 'JsonValueError';
  }
}

/**
 * The body after the changes, in their order; null when they change nothing, so that it stays unchanged, byte by byte. A body in
 * which an object has a repeated name is always rewritten: a rule has seen only one of the two. An empty body is read as `{}`.
 * Throws a `BodySyntaxError` or a `JsonValueError`.
 */
export function changeJsonBody(body: Uint8Array, changes: readonly JsonChange[]): Uint8Array | null {
  const root = body.byteLength === 0 ? {} : parseJson(body);
  let count = 0;
  for (const change of changes) count += apply(root, change);
  if (count === 0 && (body.byteLength === 0 || !hasRepeatedNames(body, root))) return null;
  return Buffer.from(jsonText(root));
}

/** The same for a body in shared memory; the result is shared memory too. For `changeJson`, in a thread. */
export function changeSharedJson(body: Uint8Array, changes: readonly JsonChange[]): Uint8Array | null {
  const changed = changeJsonBody(Buffer.from(body), changes);
  return changed === null ? null : sharedCopy(changed);
}

export function sharedCopy(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.byteLength));
  copy.set(bytes);
  return copy;
}

function apply(root: JsonValue, change: JsonChange): number {
  const field = jsonField(change.name);
  if (change.kind === 'remove') return field.remove(root);
  if (change.kind === 'rename') return field.rename(root, change.to);
  return field[change.kind](root, jsonValue(change.name, change.value, change.type));
}

/** A text as a value of a type; numbers keep their digits. Throws a `JsonValueError`. */
export function jsonValue(name: string, text: string, type: JsonValueType): JsonValue {
  if (type === 'string') return text;
  const trimmed = text.trim();
  if (type === 'boolean') {
    if (trimmed !== 'true' && trimmed !== 'false') throw new JsonValueError(name, type);
    return trimmed === 'true';
  }
  const number = numberOf(trimmed);
  if (!isJsonNumber(number)) throw new JsonValueError(name, type);
  return number;
}

function numberOf(text: string): JsonValue {
  try {
    return parseJson(text);
  } catch {
    return null;
  }
}
