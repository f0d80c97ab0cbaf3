import { noSpans, type Span } from './spans.ts';

const minDigits = 13;
const maxDigits = 19;
const maxSeparators = 3;
/** Spaces, hyphens, dashes, a dot, a slash, an underscore. */
const separator = /[ ._/\u00a0\u2007\u2009\u202f\u2010-\u2015-]/;

/**
 * Numbers of payment cards: 13 to 19 digits with a prefix and length of a card network, and a valid check digit (Luhn,
 * ISO/IEC 7812-1). The digits may be in groups, with up to three separators between them.
 */
export function findCards(text: string): readonly Span[] {
  if (text.length < minDigits) return noSpans;
  const spans: Span[] = [];
  let groups: Span[] = [];
  for (let at = nextDigit(text, 0); at < text.length; ) {
    const end = digitsEnd(text, at);
    groups.push({ start: at, end });
    const next = nextDigit(text, end);
    if (next === text.length || !areSeparators(text, end, next)) {
      addCards(text, groups, spans);
      groups = [];
    }
    at = next;
  }
  return spans;
}

function nextDigit(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isDigit(text.charCodeAt(at))) at++;
  return at;
}

function digitsEnd(text: string, from: number): number {
  let at = from;
  while (isDigit(text.charCodeAt(at))) at++;
  return at;
}

function isDigit(char: number): boolean {
  return char >= 0x30 && char <= 0x39;
}

function areSeparators(text: string, start: number, end: number): boolean {
  if (end - start > maxSeparators) return false;
  for (let at = start; at < end; at++) if (!separator.test(text[at] as string)) return false;
  return true;
}

/** A card number consists of whole groups. */
function addCards(text: string, groups: readonly Span[], spans: Span[]): void {
  for (let first = 0; first < groups.length; ) {
    const last = cardFrom(text, groups, first);
    if (last < 0) first++;
    else {
      spans.push({ start: (groups[first] as Span).start, end: (groups[last] as Span).end });
      first = last + 1;
    }
  }
}

/** The last group of the longest card number that begins with the first one; -1: no card number. */
function cardFrom(text: string, groups: readonly Span[], first: number): number {
  let number = '';
  let found = -1;
  for (let at = first; at < groups.length; at++) {
    const { start, end } = groups[at] as Span;
    if (number.length + end - start > maxDigits) break;
    number += text.slice(start, end);
    if (number.length >= minDigits && isCard(number)) found = at;
  }
  return found;
}

/** Prefixes and lengths: Visa; Mastercard; Mir; American Express; Diners; JCB; Maestro; Discover, UnionPay and others with 6; RuPay; Troy. */
const networks = new RegExp(
  [
    '4(?:\\d{12}|\\d{15}|\\d{18})',
    '(?:5[1-5]\\d\\d|222[1-9]|22[3-9]\\d|2[3-6]\\d\\d|27[01]\\d|2720)\\d{12}',
    '220[0-5]\\d{12,15}',
    '3[47]\\d{13}',
    '3(?:0[0-59]|[689]\\d)\\d{11,16}',
    '35(?:2[89]|[3-8]\\d)\\d{12,15}',
    '(?:50|5[6-8]|6\\d)\\d{11,17}',
    '(?:8[12]\\d\\d|9792)\\d{12}',
  ]
    .map((network) => `^${network}$`)
    .join('|'),
);

function isCard(number: string): boolean {
  return networks.test(number) && luhn(number) && !/^(\d)\1*$/.test(number);
}

/** The sum of the digits, every second one from the right doubled, is a multiple of ten. */
function luhn(number: string): boolean {
  let sum = 0;
  for (let at = number.length - 1, double = false; at >= 0; at--, double = !double) {
    const digit = number.charCodeAt(at) - 48;
    sum += double ? (digit > 4 ? digit * 2 - 9 : digit * 2) : digit;
  }
  return sum % 10 === 0;
}
