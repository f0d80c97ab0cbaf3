import { matches, type Span } from './spans.ts';

const gap = '[ \\u00a0\\u202f().\\/\\u2010-\\u2015-]{0,3}';
const before = '(?<![\\w.+-])';

/** `+44 20 7946 0958`, `0049 30 1234567`: 8 to 15 digits in total (E.164). */
const international = new RegExp(`(?<![\\w+])\\+[1-9](?:${gap}\\d){6,14}(?!\\d)`, 'g');
const withPrefix = new RegExp(`${before}00${gap}[1-9](?:${gap}\\d){7,13}(?!\\d)`, 'g');
/** `(212) 555-0100`, `1-212-555-0100`: the North American numbering plan. */
const american = new RegExp(
  `${before}(?:1[ .-])?(?:\\([2-9]\\d{2}\\)[ .-]?|[2-9]\\d{2}[ .-])[2-9]\\d{2}[ .-]\\d{4}(?!\\d)`,
  'g',
);
/** `(11) 91234-5678`: an area code in parentheses. */
const withArea = new RegExp(`${before}\\(\\d{2,5}\\)[ -]?\\d{3,5}[ -]?\\d{3,4}(?!\\d)`, 'g');
/** `030 1234567`, `06 12 34 56 78`, `020 7946 0958`: a national number with a leading zero, in groups. */
const national = new RegExp(`${before}\\(?0\\d{1,5}\\)?(?:[ .\\/\\u00a0-]{1,3}\\d{2,9}){1,5}(?!\\d)`, 'g');
const date = /^\d{1,2}[./ -]\d{1,2}[./ -]\d{2,4}(?!\d)/;

/**
 * Telephone numbers: with a country code, of the North American plan, or national ones in groups that begin with a zero or an
 * area code in parentheses. Other digits are not treated as telephone numbers.
 */
export function findPhones(text: string): readonly Span[] {
  if (!/\d/.test(text)) return [];
  const found = [
    ...matches(text, international, () => true),
    ...matches(text, withPrefix, () => true),
    ...matches(text, american, () => true),
    ...matches(text, withArea, (match) => digitsOf(match) >= 8),
    ...matches(text, national, isNational),
  ];
  return found.length < 2 ? found : merged(found);
}

function isNational(match: string): boolean {
  const count = digitsOf(match);
  // 06 12 34 56 78 begins like a date.
  return count >= 9 && count <= 12 && (count === 10 && /^0\d(?:[ .]\d\d){4}$/.test(match) ? true : !date.test(match));
}

function digitsOf(text: string): number {
  return text.replace(/\D/g, '').length;
}

function merged(found: Span[]): readonly Span[] {
  found.sort((a, b) => a.start - b.start || b.end - a.end);
  const spans: Span[] = [];
  for (const span of found) {
    const last = spans.at(-1);
    if (last === undefined || span.start >= last.end) spans.push(span);
    else if (span.end > last.end) spans[spans.length - 1] = { start: last.start, end: span.end };
  }
  return spans;
}
