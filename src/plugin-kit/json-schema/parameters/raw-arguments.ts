import { isUtf8 } from 'node:buffer';
import { percentDecoded } from '../../../shared/util/bytes/percent-decoding.ts';

/** An argument of a query or a form, not decoded yet. */
export interface RawArgument {
  /** Decoded; null when that is not possible. */
  readonly name: string | null;
  readonly value: string;
}

export function rawArguments(query: string): readonly RawArgument[] {
  if (query === '') return [];
  return query.split('&').map((pair) => {
    const equals = pair.indexOf('=');
    return equals < 0
      ? { name: decodeArgument(pair), value: '' }
      : { name: decodeArgument(pair.slice(0, equals)), value: pair.slice(equals + 1) };
  });
}

/** Null: invalid percent-encoding or UTF-8. */
export type Decode = (text: string) => string | null;

/** Of a query or form, where a plus is a space. */
export function decodeArgument(text: string): string | null {
  return decodePercent(text.includes('+') ? text.replaceAll('+', ' ') : text);
}

/** `text`: one char for each byte. */
export function decodePercent(text: string): string | null {
  if (!text.includes('%')) return latin1(text);
  if (/%(?![0-9A-Fa-f]{2})/.test(text)) return null;
  const bytes = percentDecoded(text, false);
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}

/** `text`: the bytes of UTF-8, one char for each. */
export function latin1(text: string): string | null {
  if (!/[\x80-\xff]/.test(text)) return text;
  const bytes = Buffer.from(text, 'latin1');
  return isUtf8(bytes) ? bytes.toString('utf8') : null;
}
