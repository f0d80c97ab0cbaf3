import { type JsonScalar, parseJson } from '../json/json.ts';
import { hint } from './xml-mapping.ts';

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;
const space = /^[ \t\r\n]+|[ \t\r\n]+$/g;

/** A text as the number or boolean that hints say, or that it looks like. Other texts stay unchanged. */
export function xmlScalar(text: string, flags: number, infer: boolean): JsonScalar {
  if ((flags & (hint.number | hint.boolean)) !== 0) return hinted(text, flags);
  return infer && (flags & hint.string) === 0 ? inferred(text) : text;
}

function hinted(text: string, flags: number): JsonScalar {
  const bare = text.replace(space, '');
  if ((flags & hint.number) !== 0 && number.test(bare)) return keptNumber(bare);
  if ((flags & hint.boolean) !== 0) {
    if (bare === 'true' || bare === '1') return true;
    if (bare === 'false' || bare === '0') return false;
  }
  return text;
}

/** Digits that a double would lose are kept as text. */
function keptNumber(text: string): JsonScalar {
  const value = Number(text);
  return String(value) === text ? value : (parseJson(text) as JsonScalar);
}

/** Only texts that survive a round trip. */
function inferred(text: string): JsonScalar {
  if (text === 'true') return true;
  if (text === 'false') return false;
  return text.length < 25 && number.test(text) && String(Number(text)) === text ? Number(text) : text;
}
