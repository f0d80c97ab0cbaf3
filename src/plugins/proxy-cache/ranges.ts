/** The part of a body that a `Range` asks for; `unsatisfiable`: none of it is there; null: all of it is to be sent. */
export type BodyRange = { readonly first: number; readonly last: number } | 'unsatisfiable' | null;

const single = /^bytes=(\d{0,15})-(\d{0,15})$/i;

/**
 * Reads a `Range` of one part (RFC 9110 14.1.2). A list of parts, another unit and what is malformed are answered with the whole, as
 * a server may always do.
 */
export function bodyRange(range: string, length: number): BodyRange {
  const match = single.exec(range);
  if (match === null) return null;
  const [, from = '', to = ''] = match;
  if (from === '' && to === '') return null;
  if (from === '') return suffix(Number(to), length);
  const first = Number(from);
  const last = to === '' ? length - 1 : Math.min(Number(to), length - 1);
  if (to !== '' && Number(to) < first) return null;
  return first >= length ? 'unsatisfiable' : { first, last };
}

function suffix(wanted: number, length: number): BodyRange {
  if (wanted === 0 || length === 0) return 'unsatisfiable';
  return { first: Math.max(0, length - wanted), last: length - 1 };
}
