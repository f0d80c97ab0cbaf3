import { isUtf8 } from 'node:buffer';
import { BodySyntaxError, positionIn } from '../json/body-syntax-error.ts';
import { isJsonNumber, type JsonNumber, type JsonValue, parseJson, setMember } from '../json/json.ts';
import { repeatedName } from './repeated-name.ts';

/** Validators walk a value, some by recursion. */
const maxLevels = 128;

/**
 * A JSON body that every parser reads alike: no name occurs twice in an object, and no number is so long that parsers read it as
 * another kind of number. Numbers become doubles, whatever their digits; the body itself stays unchanged. Throws a `BodySyntaxError`.
 */
export function readStrictJson(body: Uint8Array): unknown {
  const text = textOf(body);
  const value = parseJson(text, { maxDepth: maxLevels });
  const counted: Counted = { members: 0 };
  const settled = settle(value, counted);
  // As many members as colons outside of strings: then no name is repeated.
  if (counted.members !== colonsIn(text)) {
    throw new BodySyntaxError('JSON', 'a name occurs twice in an object', positionIn(text, repeatedName(text)));
  }
  return settled;
}

function textOf(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  if (!isUtf8(bytes)) throw new BodySyntaxError('JSON', 'it is not UTF-8', null);
  const marked = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
  return bytes.toString('utf8', marked ? 3 : 0);
}

interface Counted {
  members: number;
}

/** The value with doubles instead of numbers that were kept as text. */
function settle(value: JsonValue, counted: Counted): JsonValue {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    for (let at = 0; at < value.length; at++) {
      const item = value[at] as JsonValue;
      if (typeof item === 'object' && item !== null) value[at] = settle(item, counted);
    }
    return value;
  }
  if (isJsonNumber(value)) return doubleOf(value as JsonNumber);
  for (const name of Object.keys(value)) {
    counted.members++;
    const member = value[name] as JsonValue;
    if (typeof member === 'object' && member !== null) setMember(value, name, settle(member, counted));
  }
  return value;
}

function doubleOf({ rawJSON }: JsonNumber): number {
  const double = Number(rawJSON);
  if (!Number.isFinite(double)) throw new BodySyntaxError('JSON', 'a number is out of range', null);
  if (Number.isInteger(double) && !isWhole(rawJSON)) {
    throw new BodySyntaxError('JSON', 'a number has more digits than can be represented', null);
  }
  return double;
}

/** Whether a number in decimal notation is an integer. */
function isWhole(digits: string): boolean {
  const [mantissa = '', exponent = '0'] = digits.toLowerCase().split('e');
  const [, fraction = ''] = mantissa.split('.');
  const behind = fraction.length - Number(exponent);
  if (behind <= 0) return true;
  const all = mantissa.replace(/[-.]/g, '');
  return /^0*$/.test(all.slice(-Math.min(behind, all.length)));
}

function colonsIn(text: string): number {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const char = text.charCodeAt(at);
    if (char === 0x3a) count++;
    else if (char === 0x22) at = endOfString(text, at);
  }
  return count;
}

function endOfString(text: string, start: number): number {
  let at = start + 1;
  for (let char = text.charCodeAt(at); char !== 0x22; char = text.charCodeAt(++at)) if (char === 0x5c) at++;
  return at;
}
