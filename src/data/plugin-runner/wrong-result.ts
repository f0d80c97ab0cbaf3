import { isUint8Array } from 'node:util/types';
import type { Reply } from '../../plugin-sdk/reply.ts';

/** Whether a phase returned a reply. Plugins in JavaScript return anything. */
export function isReply(result: unknown): result is Reply {
  if (typeof result !== 'object' || result === null) return false;
  const { status, headers, body, message } = result as Partial<Reply>;
  return (
    typeof status === 'number' &&
    Array.isArray(headers) &&
    (body === null || typeof body === 'string' || isUint8Array(body)) &&
    (message === null || typeof message === 'string')
  );
}

/** The exception for another result. `null` is none: it is not known whether it means to continue. */
export function wrongResult(result: unknown): TypeError {
  const kind = result === null ? 'null' : Array.isArray(result) ? 'an array' : `a ${typeof result}`;
  return new TypeError(
    `the phase returned ${kind}; return undefined to continue, or a reply (reply, replyJson, refuse)`,
  );
}

/** What a transform may return for a piece of a body. Throws for anything else: it would be framed wrongly. */
export function checkedPiece(piece: unknown): Uint8Array | null {
  if (piece === null || isUint8Array(piece)) return piece;
  throw new TypeError(`the transform returned a ${typeof piece}; return bytes, or null for none`);
}
