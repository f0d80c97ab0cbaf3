import { noSpans, type Span } from './spans.ts';

const maxLocalLength = 64;
const maxDomainLength = 255;

/**
 * Addresses whose domain has a dot (RFC 5321, and internationalised ones of RFC 6531): `ada@example.com`, `用户@例子.公司`,
 * `"a b"@example.com`, `ada@[192.0.2.1]`. `@` may be escaped as in URLs (`%40`).
 */
export function findEmails(text: string): readonly Span[] {
  let sign = nextSign(text, 0);
  if (sign.at < 0) return noSpans;
  const spans: Span[] = [];
  let floor = 0;
  while (sign.at >= 0) {
    const after = sign.at + sign.length;
    const start = localStart(text, sign.at, floor);
    const end = start === sign.at ? -1 : domainEnd(text, after);
    if (end >= 0) {
      spans.push({ start, end });
      floor = end;
    }
    sign = nextSign(text, Math.max(after, floor));
  }
  return spans;
}

function nextSign(text: string, from: number): { readonly at: number; readonly length: number } {
  const plain = text.indexOf('@', from);
  const limit = plain < 0 ? text.length : plain;
  // Only up to the next `@`: otherwise a text with many of them would take quadratic time.
  for (let at = text.indexOf('%', from); at >= 0 && at < limit; at = text.indexOf('%', at + 1)) {
    if (text.startsWith('40', at + 1)) return { at, length: 3 };
  }
  return { at: plain, length: 1 };
}

/** The usual characters of an unquoted local part, without those that are separators in URLs. */
const localChar = /[A-Za-z0-9._%+'~!#$*^`\-\p{L}\p{M}\p{N}\p{Cs}]/u;
const domainChar = /[A-Za-z0-9.\-\p{L}\p{M}\p{N}\p{Cs}]/u;

function localStart(text: string, sign: number, floor: number): number {
  const min = Math.max(floor, sign - maxLocalLength);
  if (text[sign - 1] === '"') {
    const quote = text.lastIndexOf('"', sign - 2);
    return quote >= min && quote < sign - 1 ? quote : sign;
  }
  let start = sign;
  while (start > min && localChar.test(text[start - 1] as string)) start--;
  while (start < sign && text[start] === '.') start++;
  return start;
}

const literal = /\[(?:IPv6:)?[0-9A-Fa-f.:]{2,45}\]/y;
const topLevel = /^(?:xn--[a-z0-9-]+|[\p{L}\p{M}\p{Cs}]{2,63})$/iu;
/** File names of images for high-density screens: `logo@2x.png`. */
const imageName = /^\dx\.(?:png|jpe?g|gif|webp|svg|avif)$/i;

/** -1: no domain starts here. */
function domainEnd(text: string, start: number): number {
  if (text[start] === '[') {
    literal.lastIndex = start;
    return literal.test(text) ? literal.lastIndex : -1;
  }
  const max = Math.min(text.length, start + maxDomainLength);
  let end = start;
  while (end < max && domainChar.test(text[end] as string)) end++;
  while (end > start && (text[end - 1] === '.' || text[end - 1] === '-')) end--;
  const labels = text.slice(start, end).split('.');
  if (imageName.test(text.slice(start, end))) return -1;
  // The text after the domain may look like a part of it: `ada@example.com.123`.
  while (labels.length > 1 && !topLevel.test(labels.at(-1) as string)) end -= (labels.pop() as string).length + 1;
  return labels.length > 1 && labels[0] !== '' ? end : -1;
}
