import type { BackendAnswer, CallFailed, CallFailure, JsonValue } from '../../plugin-sdk/index.ts';
import type { Referred } from './read-answer.ts';

/** Why a part has no answer. */
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

/** `status`: what the client gets when the part is required. The message is fit for it: nothing of the backend is in it. */
export interface PartFailure {
  readonly reason: FailureReason;
  readonly status: number;
  readonly message: string;
  /** Of the element of `each`. */
  readonly index?: number;
  /** It is about the whole request: that the part is optional does not help. */
  readonly final?: boolean;
}

/** What became of a part. `raw` is what others refer to, `value` what lands in the document. */
export type Outcome =
  | {
      readonly kind: 'there';
      readonly raw: JsonValue;
      /** In the place of `raw` when the answer is large. */
      readonly referred: Referred | null;
      readonly value: JsonValue;
      /** Null for the several of `each`. */
      readonly answer: BackendAnswer | null;
      /** Of elements of an optional `each`. */
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
