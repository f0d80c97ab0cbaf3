import type { Span } from './spans.ts';

/** Lengths by country, from the IBAN registry (ISO 13616). */
const lengths: ReadonlyMap<string, number> = new Map(
  (
    'AD24 AE23 AL28 AT20 AZ28 BA20 BE16 BG22 BH22 BI27 BR29 BY28 CH21 CR22 CY28 CZ24 DE22 DJ27 DK18 DO28 EE20 EG29 ES24 FI18 FK18 FO18 FR27 ' +
    'GB22 GE22 GI23 GL18 GR27 GT28 HN28 HR21 HU28 IE22 IL23 IQ23 IS26 IT27 JO30 KW30 KZ20 LB28 LC32 LI21 LT20 LU20 LV21 LY25 MC27 MD24 ' +
    'ME22 MK19 MN20 MR27 MT31 MU30 NI28 NL18 NO15 OM23 PK24 PL28 PS29 PT25 QA29 RO24 RS22 RU33 SA24 SC31 SD18 SE24 SI19 SK24 SM27 SO23 ST25 ' +
    'SV28 TL23 TN24 TR26 UA29 VA22 VG24 XK20 YE30'
  )
    .split(' ')
    .map((entry) => [entry.slice(0, 2), Number(entry.slice(2))]),
);

const beginning = /(?<![A-Za-z0-9])[A-Za-z]{2}[ \u00a0-]?\d{2}/g;
const separator = /[ \u00a0\u202f-]/;
const alphanumeric = /[A-Za-z0-9]/;

/** International bank account numbers, grouped or not, with the length of their country and valid check digits. */
export function findIbans(text: string): readonly Span[] {
  const spans: Span[] = [];
  beginning.lastIndex = 0;
  for (let found = beginning.exec(text); found !== null; found = beginning.exec(text)) {
    const end = ibanEnd(text, found.index);
    if (end < 0) continue;
    spans.push({ start: found.index, end });
    beginning.lastIndex = end;
  }
  return spans;
}

/** -1: not an IBAN. */
function ibanEnd(text: string, start: number): number {
  const length = lengths.get(text.slice(start, start + 2).toUpperCase());
  if (length === undefined) return -1;
  let number = '';
  let at = start;
  while (number.length < length) {
    const char = text[at] ?? '';
    if (alphanumeric.test(char)) number += char.toUpperCase();
    else if (!separator.test(char) || separator.test(text[at - 1] ?? '')) return -1;
    at++;
  }
  return !alphanumeric.test(text[at] ?? '') && remainder(number) === 1 ? at : -1;
}

/** The remainder modulo 97, with the first four characters moved to the end and letters as numbers from 10 (ISO 7064). */
function remainder(number: string): number {
  let rest = 0;
  for (const char of number.slice(4) + number.slice(0, 4)) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}
