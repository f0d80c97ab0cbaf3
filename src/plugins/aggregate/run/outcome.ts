import type { JsonValue } from '../../../plugin-kit/json/index.ts';
import type { BackendAnswer, BackendCall, CallFailed, CallFailure } from '../../../plugin-sdk/index.ts';

/** The call of a part, without its timeout and size limit; or the reason why it cannot be made. */
export type MadeCall = { readonly call: CallOptions } | { readonly failure: PartFailure };

export type CallOptions = Omit<BackendCall, 'timeout' | 'maxBytes'>;

/** Values of a large response, by path. */
export type ReferencedValues = ReadonlyMap<string, JsonValue>;

/** Why a part failed. */
export type FailureReason =
  | Exclude<CallFailure, 'stopped' | 'no-service'>
  | 'status'
  | 'malformed'
  | 'media-type'
  | 'missing-value'
  | 'unsafe-value'
  | 'dependency'
  | 'not-a-list'
  | 'too-many'
  | 'no-place'
  | 'misconfigured'
  | 'stopped';

/** `status`: of the response to the client if the part is required. The message may be sent: it contains nothing of the backend. */
export interface PartFailure {
  readonly reason: FailureReason;
  readonly status: number;
  readonly message: string;
  /** Index of the element of `each`. */
  readonly index?: number;
  /** It fails the whole request, even if the part is optional. */
  readonly final?: boolean;
}

/** The outcome of a part. Other parts refer to `raw`; `value` is placed in the document. */
export type Outcome =
  | {
      readonly kind: 'there';
      readonly raw: JsonValue;
      /** Replaces `raw` if the response is large. */
      readonly referenced: ReferencedValues | null;
      readonly value: JsonValue;
      /** Null for `each`, which has several. */
      readonly answer: BackendAnswer | null;
      /** Failed elements of an optional `each`. */
      readonly failures: readonly PartFailure[];
    }
  | { readonly kind: 'absent' }
  | { readonly kind: 'failed'; readonly failure: PartFailure };

export const noFailures: readonly PartFailure[] = Object.freeze([]);
export const absent: Outcome = Object.freeze({ kind: 'absent' });

const callMessages: Readonly<Record<CallFailure, string>> = {
  unreachable: 'its backend cannot be reached',
  timeout: 'its backend has not answered in time',
  'no-target': 'its backend has no address that can be used',
  'bad-answer': 'the answer of its backend is not valid',
  'too-large': 'the answer of its backend is too large',
  'no-service': 'its service does not exist',
  stopped: 'the request is over',
};

export function callFailure({ reason, status }: CallFailed): PartFailure {
  const message = callMessages[reason];
  if (reason === 'no-service') return { reason: 'misconfigured', status, message };
  return { reason, status: status >= 500 && status <= 504 ? status : 502, message };
}

export const tooLate: PartFailure = Object.freeze({
  reason: 'timeout',
  status: 504,
  message: 'the time for the whole was over before its turn',
});

export const allTooLarge: PartFailure = Object.freeze({
  reason: 'too-large',
  status: 502,
  message: 'with it the answers are too large together',
  final: true,
});
