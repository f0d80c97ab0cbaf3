import { noSpans, type Span } from './spans.ts';

/** `{"` in Base64. */
const mark = 'eyJ';
const minHeaderLength = 10;
const maxParts = 5;

/** Signed and encrypted tokens in compact form (RFC 7515, RFC 7516): Base64 parts joined by dots, the first one an object. */
export function findTokens(text: string): readonly Span[] {
  let at = text.indexOf(mark);
  if (at < 0) return noSpans;
  const spans: Span[] = [];
  while (at >= 0) {
    const end = tokenEnd(text, at);
    if (end.token) spans.push({ start: at, end: end.at });
    // Characters are not searched twice: a text with many marks takes linear time.
    at = text.indexOf(mark, Math.max(end.at, at + mark.length));
  }
  return spans;
}

function tokenEnd(text: string, start: number): { readonly at: number; readonly token: boolean } {
  const header = partEnd(text, start);
  if (header - start < minHeaderLength || text[header] !== '.') return { at: header, token: false };
  const payload = partEnd(text, header + 1);
  // A detached payload is an empty part (RFC 7515 appendix F).
  if (text[payload] !== '.') return { at: payload, token: false };
  let end = partEnd(text, payload + 1);
  for (let parts = 3; parts < maxParts && text[end] === '.' && isPartChar(text.charCodeAt(end + 1)); parts++) {
    end = partEnd(text, end + 1);
  }
  return { at: end, token: payload > header + 1 || end > payload + 1 };
}

function partEnd(text: string, start: number): number {
  let end = start;
  while (isPartChar(text.charCodeAt(end))) end++;
  return end;
}

function isPartChar(char: number): boolean {
  return (
    (char >= 0x61 && char <= 0x7a) ||
    (char >= 0x41 && char <= 0x5a) ||
    (char >= 0x30 && char <= 0x39) ||
    char === 0x2d ||
    char === 0x5f
  );
}
