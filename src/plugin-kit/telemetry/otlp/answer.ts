import { otlpTypes } from './messages.ts';

/** The response of a receiver to an OTLP/HTTP message. */
export type OtlpAnswer =
  /** Accepted, except for some entries. `message`: the receiver's explanation; '' without one. */
  | { readonly kind: 'taken'; readonly rejected: number; readonly message: string }
  /** Retryable. `wait`: milliseconds that the receiver requests, or 0. */
  | { readonly kind: 'later'; readonly wait: number; readonly reason: string }
  /** Refused for good. */
  | { readonly kind: 'refused'; readonly reason: string };

/** Statuses that the OTLP/HTTP specification ("Failures") calls retryable. */
const retried: ReadonlySet<number> = new Set([429, 502, 503, 504]);

/** Maximum of the pause that a receiver may request, in milliseconds. */
const maxWait = 300_000;
const maxMessageSize = 200;

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
  return wait > 0 ? Math.min(wait, maxWait) : 0;
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
    // The status already says that the message was accepted.
    return { rejected: 0, message: '' };
  }
}

/** The receiver's text is written to the error log. */
function oneLine(text: string): string {
  return text
    .slice(0, maxMessageSize)
    .replace(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
