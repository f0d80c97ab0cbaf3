import { otlpTypes } from './messages.ts';

/** What a receiver made of a message of OTLP/HTTP. */
export type OtlpAnswer =
  /** It was taken, but for some of what was in it. `message`: what the receiver says of that; '' for nothing. */
  | { readonly kind: 'taken'; readonly rejected: number; readonly message: string }
  /** It may be taken later. `wait`: milliseconds that the receiver asks for, 0 when it does not. */
  | { readonly kind: 'later'; readonly wait: number; readonly reason: string }
  /** It will never be. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Statuses with which the specification of OTLP/HTTP ("Failures") has a message sent again. */
const retried: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Longer than this nobody waits because a receiver says so. Milliseconds. */
const longestWait = 300_000;
const longestMessage = 200;

const types = otlpTypes(`
message Answer { AnswerPartialSuccess partial_success = 1; }
message AnswerPartialSuccess { int64 rejected = 1; string error_message = 2; }
`);

export function otlpAnswer(status: number, retryAfter: string | null, body: Uint8Array): OtlpAnswer {
  if (status >= 200 && status < 300) return { kind: 'taken', ...partialSuccess(body) };
  const reason = `answered with status ${status}`;
  return retried.has(status) ? { kind: 'later', wait: waitOf(retryAfter), reason } : { kind: 'refused', reason };
}

/** Both forms of `Retry-After` (RFC 9110 10.2.3). */
function waitOf(retryAfter: string | null): number {
  if (retryAfter === null) return 0;
  const wait = /^\d{1,9}$/.test(retryAfter) ? Number(retryAfter) * 1000 : Date.parse(retryAfter) - Date.now();
  return wait > 0 ? Math.min(wait, longestWait) : 0;
}

/** The field numbers are the same for all signals. */
function partialSuccess(body: Uint8Array): { readonly rejected: number; readonly message: string } {
  if (body.byteLength === 0) return { rejected: 0, message: '' };
  try {
    const type = types.type('Answer');
    const answer = type.toObject(type.decode(body), { longs: Number, defaults: true });
    const { rejected, errorMessage } = (answer['partialSuccess'] ?? {}) as { rejected?: number; errorMessage?: string };
    return { rejected: Math.max(0, rejected ?? 0), message: oneLine(errorMessage ?? '') };
  } catch {
    // The status has said that it was taken.
    return { rejected: 0, message: '' };
  }
}

/** A receiver's text goes into the error log. */
function oneLine(text: string): string {
  return text
    .slice(0, longestMessage)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
