import type { Position } from '../../store/position.ts';

export type Direction = 'asc' | 'desc';

/** The content of a cursor (or Kong's `offset`): the last item returned, and the direction. */
export interface Cursor {
  readonly position: Position;
  readonly direction: Direction;
}

/** Why a token was refused, with Kong's texts for offsets. */
export type BadCursor = 'bad base64 encoding' | 'bad json encoding' | 'unexpected content';

const base64url = /^[A-Za-z0-9_-]+$/;
const idFormat = /^[\x21-\x7e]{1,4096}$/;
/** Last instant that a JavaScript date can show. */
const lastInstant = 8_640_000_000_000_000;
const maxTokenLength = 8192;

export function encodeCursor(cursor: Cursor): string {
  const { createdAt, id } = cursor.position;
  const content = cursor.direction === 'asc' ? [createdAt, id] : [createdAt, id, 'desc'];
  return Buffer.from(JSON.stringify(content)).toString('base64url');
}

/** Accepts only the output of `encodeCursor`: another encoding of the same bytes is refused as well. */
export function decodeCursor(token: string): Cursor | BadCursor {
  if (token.length > maxTokenLength || !base64url.test(token)) return 'bad base64 encoding';
  const bytes = Buffer.from(token, 'base64url');
  if (bytes.toString('base64url') !== token) return 'bad base64 encoding';
  const content = parseJson(bytes.toString('utf8'));
  if (content === undefined) return 'bad json encoding';
  if (!Array.isArray(content) || content.length < 2 || content.length > 3) return 'unexpected content';
  const [createdAt, id, direction] = content as readonly unknown[];
  if (typeof createdAt !== 'number' || !Number.isSafeInteger(createdAt) || Math.abs(createdAt) > lastInstant) {
    return 'unexpected content';
  }
  if (typeof id !== 'string' || !idFormat.test(id)) return 'unexpected content';
  if (content.length === 3 && direction !== 'desc') return 'unexpected content';
  return { position: { createdAt, id }, direction: direction === 'desc' ? 'desc' : 'asc' };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
