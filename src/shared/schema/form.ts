import { multipartParts } from '../util/bytes/multipart.ts';
import type { Field } from './field-meta.ts';
import type { RecordSchema } from './fields.ts';

/** A form field. The value is true for a key without `=`. */
export type FormPair = readonly [name: string, value: string | true];

export type FormResult =
  | { readonly ok: true; readonly value: Record<string, unknown> }
  | { readonly ok: false; readonly reason: 'too many arguments' | 'invalid' };

/** Kong's limit on the number of arguments of a form or a query. */
export const MAX_ARGUMENTS = 1000;
const MAX_DEPTH = 16;

/** Splits a URL-encoded body. Null when it has more than 1000 arguments. */
export function parseUrlencoded(text: string): readonly FormPair[] | null {
  if (text === '') return [];
  const parts = text.split('&', MAX_ARGUMENTS + 1);
  if (parts.length > MAX_ARGUMENTS) return null;
  const pairs: FormPair[] = [];
  for (const part of parts) {
    const equals = part.indexOf('=');
    if (part === '' || equals === 0) continue;
    if (equals < 0) pairs.push([unescapeForm(part), true]);
    else pairs.push([unescapeForm(part.slice(0, equals)), unescapeForm(part.slice(equals + 1))]);
  }
  return pairs;
}

/** Parses a multipart body; the content of a file part is its value. */
export function parseMultipart(
  body: Uint8Array,
  contentType: string,
): readonly FormPair[] | 'invalid' | 'too many arguments' {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const boundary = boundaryOf(contentType);
  if (boundary === null) return 'invalid';
  const parts = multipartParts(bytes, boundary);
  if (parts === null) return hasTooManyParts(bytes, boundary) ? 'too many arguments' : 'invalid';
  return parts.map(({ name, contentStart, contentEnd }) => [name, bytes.toString('utf8', contentStart, contentEnd)]);
}

function boundaryOf(contentType: string): string | null {
  const [, quoted, token] =
    /;[ \t]*boundary=(?:"([^"\\]{1,70})"|([^\s;"]{1,70}))[ \t]*(?:;|$)/i.exec(contentType) ?? [];
  return quoted ?? token ?? null;
}

function hasTooManyParts(body: Buffer, boundary: string): boolean {
  const delimiter = Buffer.from(`\r\n--${boundary}`, 'latin1');
  let parts = 0;
  for (let at = 0; at >= 0 && parts <= MAX_ARGUMENTS; at = body.indexOf(delimiter, at + 1)) parts++;
  return parts > MAX_ARGUMENTS;
}

/**
 * Nests form fields by their names: `config.minute`, `config[minute]`, `paths[]`, `paths[1]`; a repeated name makes a
 * list. All values stay strings: `inferFromSchema` converts them to their types. The objects have no prototype.
 */
export function decodeForm(pairs: readonly FormPair[]): FormResult {
  if (pairs.length > MAX_ARGUMENTS) return { ok: false, reason: 'too many arguments' };
  const root: Branch = newBranch();
  for (const [name, value] of pairs) {
    const path = parseName(name);
    if (path === null || !insert(root, path, value)) return { ok: false, reason: 'invalid' };
  }
  return { ok: true, value: toPlain(root) as Record<string, unknown> };
}

/** A step of a name: a key, a 1-based position, or 'append'. */
type Step = { readonly key: string } | { readonly position: number } | 'append';

function parseName(name: string): readonly Step[] | null {
  // Kong does not expand such names; they are then unknown fields.
  if (name.startsWith('.') || name.endsWith('.')) return [{ key: name }];
  const steps: Step[] = [];
  const tokens = name.matchAll(/\[([^\]]*)\]|\.|[^.[]+|\[/g);
  for (const [token, inBrackets] of tokens) {
    if (token === '.') continue;
    if (steps.length === MAX_DEPTH) return null;
    if (inBrackets === undefined) steps.push({ key: token });
    else if (inBrackets === '') steps.push('append');
    else if (/^[0-9]+$/.test(inBrackets)) steps.push({ position: Number(inBrackets) });
    else steps.push({ key: inBrackets });
  }
  const isUnsafe = steps.some((step) => step !== 'append' && 'key' in step && step.key === '__proto__');
  const isOutOfRange = steps.some((step) => step !== 'append' && 'position' in step && step.position > MAX_ARGUMENTS);
  return isUnsafe || isOutOfRange || steps.length === 0 ? null : steps;
}

/** While decoding, a node holds its children by key or by position; a leaf holds its strings. */
interface Branch {
  readonly keys: Map<string, Node>;
  readonly positions: Map<number, Node>;
}
interface Leaf {
  readonly values: (string | true)[];
}
type Node = Branch | Leaf;

function newBranch(): Branch {
  return { keys: new Map(), positions: new Map() };
}

function insert(branch: Branch, path: readonly Step[], value: string | true): boolean {
  const [step, ...rest] = path;
  if (step === undefined) return false;
  const { children, key } = slotOf(branch, step);
  const existing = children.get(key);
  const [next] = rest;
  if (next === undefined) {
    if (existing === undefined) children.set(key, { values: [value] });
    else if ('values' in existing) existing.values.push(value);
    // `paths[]=/a&paths=/b` appends too.
    else return existing.keys.size === 0 && insert(existing, ['append'], value);
    return true;
  }
  if (existing === undefined || 'values' in existing) {
    const inner = newBranch();
    if (existing !== undefined) {
      if (next !== 'append') return false;
      for (const earlier of existing.values) insert(inner, ['append'], earlier);
    }
    children.set(key, inner);
    return insert(inner, rest, value);
  }
  return insert(existing, rest, value);
}

function slotOf(branch: Branch, step: Step): { readonly children: Map<unknown, Node>; readonly key: unknown } {
  if (step === 'append') return { children: branch.positions, key: Math.max(0, ...branch.positions.keys()) + 1 };
  if ('position' in step) return { children: branch.positions, key: step.position };
  return { children: branch.keys, key: step.key };
}

function toPlain(node: Node): unknown {
  if ('values' in node) return node.values.length === 1 ? node.values[0] : node.values;
  // Positions start at 1. With a 0 among them it is a map, which a list field rejects.
  if (node.positions.size > 0 && node.keys.size === 0 && !node.positions.has(0)) {
    return [...node.positions].sort(([a], [b]) => a - b).map(([, child]) => toPlain(child));
  }
  const object: Record<string, unknown> = Object.create(null);
  for (const [position, child] of node.positions) object[String(position)] = toPlain(child);
  for (const [key, child] of node.keys) object[key] = toPlain(child);
  return object;
}

/** Matches in linear time: the digits before the point cannot also be those after it. */
const LUA_NUMBER = /^\s*[+-]?(?:0x[0-9a-f]+|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:e[+-]?[0-9]+)?)\s*$/i;

/**
 * Converts the strings of a decoded form to the types of the schema. Values that do not fit are unchanged, for the
 * validation to report. An empty string becomes null.
 */
export function inferFromSchema(field: Field, value: unknown): unknown {
  if (value === '') return null;
  const { type, elements, keys, values } = field.meta;
  switch (type) {
    case 'integer':
    case 'number':
      return inferNumber(value);
    case 'boolean':
      return value === 'true' ? true : value === 'false' ? false : value;
    case 'array':
    case 'set': {
      if (elements === undefined) return value;
      const list = Array.isArray(value) ? value : isObject(value) ? null : [value];
      return list === null ? value : list.map((item) => inferFromSchema(elements, item));
    }
    case 'map':
      if (values === undefined || keys === undefined) return value;
      return mapFields(byPosition(value), (_key, item) => inferFromSchema(values, item));
    case 'record':
      return inferRecord(field as RecordSchema, value);
    case 'foreign':
      return mapFields(value, (_key, item) => (item === '' ? null : item));
    default:
      return value;
  }
}

function inferRecord(schema: RecordSchema, value: unknown): unknown {
  return mapFields(value, (name, item) => {
    const field = schema.fields.get(name) ?? schema.shorthands.get(name)?.field;
    return field === undefined ? item : inferFromSchema(field, item);
  });
}

function inferNumber(value: unknown): unknown {
  if (typeof value !== 'string' || !LUA_NUMBER.test(value)) return value;
  const negative = value.trim().startsWith('-');
  const size = Number(value.trim().replace(/^[+-]/, ''));
  if (!Number.isFinite(size)) return value;
  return negative ? -size : size;
}

function mapFields(value: unknown, change: (name: string, item: unknown) => unknown): unknown {
  if (!isObject(value)) return value;
  const output: Record<string, unknown> = Object.create(null);
  for (const [name, item] of Object.entries(value)) output[name] = change(name, item);
  return output;
}

/** `headers[1]=x` looks like a list until the schema says that it is a map. */
function byPosition(value: unknown): unknown {
  return Array.isArray(value) ? Object.fromEntries(value.map((item, index) => [String(index + 1), item])) : value;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unescapeForm(text: string): string {
  const spaced = text.replaceAll('+', ' ');
  if (!spaced.includes('%')) return spaced;
  try {
    return decodeURIComponent(spaced);
  } catch {
    return unescapeBytes(Buffer.from(spaced)).toString('utf8');
  }
}

/** In place. Invalid escapes are unchanged. */
function unescapeBytes(bytes: Buffer): Buffer {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    const high = byte === 0x25 ? hexDigit(bytes[at + 1]) : -1;
    const low = high < 0 ? -1 : hexDigit(bytes[at + 2]);
    bytes[length++] = low < 0 ? byte : high * 16 + low;
    if (low >= 0) at += 2;
  }
  return bytes.subarray(0, length);
}

function hexDigit(byte: number | undefined): number {
  if (byte === undefined) return -1;
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const letter = byte | 0x20;
  return letter >= 0x61 && letter <= 0x66 ? letter - 0x57 : -1;
}
