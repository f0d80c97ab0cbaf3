import { type MediaType, mediaType } from '../http/media-type.ts';

/** A media type, or a range of them: a star for the type, the subtype, or the part before a suffix such as `+json`. */
export const mediaRangePattern = /^(?:\*|[a-z0-9!#$&^_.+-]+)\/(?:\*|\*\+[a-z0-9!#$&^_.-]+|[a-z0-9!#$&^_.+-]+)$/;

/** Whether one of the ranges takes the type. */
export function matchesMediaRange(ranges: readonly string[], type: string): boolean {
  return ranges.some((range) => inRange(range, type));
}

function inRange(range: string, type: string): boolean {
  if (range === type || range === '*/*') return true;
  const [top = '', sub = ''] = range.split('/');
  if (!sub.startsWith('*') || (top !== '*' && !type.startsWith(`${top}/`))) return false;
  return type.endsWith(sub.slice(1));
}

/**
 * The type of a message's body; null: none, several, or a charset other than UTF-8, which another parser could read
 * differently.
 */
export function bodyType(contentTypes: readonly string[]): MediaType | null {
  const type = contentTypes.length === 1 ? mediaType(contentTypes[0] as string) : null;
  if (type === null || (type.charset !== null && !/^(?:utf-?8|us-ascii)$/.test(type.charset))) return null;
  return type;
}
