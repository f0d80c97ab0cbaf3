import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../../shared/util/bytes/as-buffer.ts';
import { BodySyntaxError, positionIn } from './body-syntax-error.ts';
import { jsonFault } from './json-fault.ts';

/** A number whose digits a double cannot hold; `JSON.rawJSON` made it, and `JSON.stringify` writes it as it was read. */
export interface JsonNumber {
  readonly rawJSON: string;
}

export type JsonScalar = string | number | boolean | null | JsonNumber;
export type JsonValue = JsonScalar | JsonObject | JsonArray;
export type JsonObject = { [name: string]: JsonValue };
export type JsonArray = JsonValue[];

export interface JsonOptions {
  /** Levels of objects and arrays. Default 512. */
  readonly maxDepth?: number;
}

/** Functions of the engine that the types of the standard library lack. */
const raw = JSON as unknown as {
  parse(text: string, reviver: (name: string, value: unknown, at: { readonly source?: string }) => unknown): unknown;
  rawJSON(text: string): JsonNumber;
  isRawJSON(value: unknown): boolean;
};

const defaultDepth = 512;

/**
 * A JSON body (RFC 8259: UTF-8, a byte order mark is skipped). Numbers that a double would change are kept as `JsonNumber`.
 * Of a repeated name the last one counts. Throws a `BodySyntaxError` with the position of the first error.
 *
 * @example
 * const value = parseJson(response.body());
 * if (isJsonObject(value)) setMember(value, 'seen', true);
 * response.setBody(Buffer.from(jsonText(value)));
 */
export function parseJson(body: Uint8Array | string, { maxDepth = defaultDepth }: JsonOptions = {}): JsonValue {
  const text = typeof body === 'string' ? body : textOf(body);
  refuseDepth(text, maxDepth);
  try {
    return (mayLoseDigits(text) ? raw.parse(text, keepDigits) : JSON.parse(text)) as JsonValue;
  } catch {
    throw syntaxError(text);
  }
}

/** The text of a value, without spaces. */
export function jsonText(value: JsonValue): string {
  return JSON.stringify(value);
}

/** True for objects with members; not for arrays, null and numbers that are kept as text. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !raw.isRawJSON(value);
}

/** True for numbers, those that are kept as text included. */
export function isJsonNumber(value: unknown): value is number | JsonNumber {
  return typeof value === 'number' || (typeof value === 'object' && value !== null && raw.isRawJSON(value));
}

/** Sets a member whatever its name is: `__proto__` would otherwise change the object's prototype. */
export function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name !== '__proto__') object[name] = value;
  else Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
}

function textOf(body: Uint8Array): string {
  const bytes = asBuffer(body);
  if (!isUtf8(bytes)) throw new BodySyntaxError('JSON', 'it is not UTF-8', null);
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('utf8', marked ? 3 : 0);
}

/**
 * Sixteen digits, with or without a decimal point, or an exponent, where a number may start: only such a number may lose digits.
 * Strings often contain both: card numbers, hexadecimal identifiers.
 */
const manyDigits = /[[:,]\s*-?(?:\d[\d.]{15}|\d[\d.]*[eE])/;
/** The same for a text that is one number. */
const onlyNumber = /^\s*-?\d[\d.eE]/;

function mayLoseDigits(text: string): boolean {
  return manyDigits.test(text) || onlyNumber.test(text);
}

function keepDigits(_name: string, value: unknown, { source }: { readonly source?: string }): unknown {
  if (typeof value !== 'number' || source === undefined || String(value) === source) return value;
  return source.length > 15 || !Number.isFinite(value) || /[eE]/.test(source) ? raw.rawJSON(source) : value;
}

/** Counted before parsing, so that neither the parser nor later walks can overflow the stack. */
function refuseDepth(text: string, most: number): void {
  // The depth is at most the number of opening brackets.
  if (text.length <= most || !hasMoreBrackets(text, most)) return;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x22) at = stringEnd(text, at);
    else if (char === 0x5b || char === 0x7b) {
      if (++depth > most)
        throw new BodySyntaxError('JSON', `it is nested deeper than ${most} levels`, positionIn(text, at));
    } else if (char === 0x5d || char === 0x7d) depth--;
  }
}

/** Counts brackets in strings too: the quick check. */
function hasMoreBrackets(text: string, most: number): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    for (let at = text.indexOf(bracket); at >= 0; at = text.indexOf(bracket, at + 1)) if (++count > most) return true;
  }
  return false;
}

/** Index of the quotation mark that ends the string, or of the end of the text. */
function stringEnd(text: string, start: number): number {
  let at = start + 1;
  for (;;) {
    const quote = text.indexOf('"', at);
    if (quote < 0) return text.length;
    let slashes = quote;
    while (text.charCodeAt(slashes - 1) === 0x5c) slashes--;
    if ((quote - slashes) % 2 === 0 || slashes < start) return quote;
    at = quote + 1;
  }
}

function syntaxError(text: string): BodySyntaxError {
  const offset = jsonFault(text);
  const reason = offset >= text.length ? 'it ends too early' : 'an unexpected character';
  return new BodySyntaxError('JSON', reason, positionIn(text, offset));
}
