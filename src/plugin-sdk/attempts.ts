import type { Reply } from './reply.ts';

/** How long to wait for a backend, in milliseconds; 0: for ever. */
export interface UpstreamTimeouts {
  /** TCP and TLS. */
  readonly connect: number;
  /** Between two writes. */
  readonly send: number;
  /** From the end of the request to the first byte of the answer. */
  readonly firstByte: number;
  /** Between two reads. */
  readonly idle: number;
  /** From the start of the request, over all attempts, to the end of the answer. */
  readonly total: number;
}

/** One address of a target, or that of a plain service. */
export interface AddressView {
  /** Id of the target, or of the service. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** Place in the node's table of addresses, the same in all workers; 0 for a plain service. */
  readonly slot: number;
}

/**
 * How an attempt ended, as soon as that is known: with the head of an answer, or with a failure before it. `stopped`: the
 * client went away, or the request was given up for another reason than this address.
 */
export type AttemptResult =
  | 'answered'
  | 'connect-failed'
  | 'connect-timeout'
  | 'send-timeout'
  | 'first-byte-timeout'
  | 'try-timeout'
  | 'total-timeout'
  | 'closed'
  | 'bad-answer'
  | 'stopped';

export interface AttemptOutcome {
  readonly result: AttemptResult;
  /** Of the answer; for a failure what the client would get: 502 or 504; 0 when stopped. */
  readonly status: number;
  /** Counts from 1. */
  readonly attempt: number;
  readonly address: AddressView;
  /** Milliseconds from the start of the attempt. */
  readonly duration: number;
  /** The backend may have seen the request, so that sending it again may do a thing twice. */
  readonly sent: boolean;
  /** Method sent to the backend. */
  readonly method: string;
  /** The request can be sent again: its body, if any, is at hand. Else there is no other attempt. */
  readonly repeatable: boolean;
}

/** Decides whether a request is sent again, in the place of the service's `retries`. */
export interface RetryPolicy {
  /** Milliseconds from the start of an attempt to the first byte of an answer; 0: no limit. */
  readonly tryTimeout: number;
  /**
   * Asked after an attempt whose outcome could be made good by another; also for answers, before anything of them is passed
   * on. Milliseconds to wait before the next attempt; null: this outcome is the final one.
   */
  next(outcome: AttemptOutcome): number | null;
  /** Name of a header that tells the backend how many milliseconds of the total time are left; null: none. */
  readonly deadlineHeader: string | null;
}

/** Sees the attempts of a request, and has a say in where they go. */
export interface AttemptWatcher {
  /** False: this address is not to be used for the attempt that is being prepared. */
  admits?(address: AddressView): boolean;
  /** An attempt begins; it will have exactly one outcome. */
  begun?(address: AddressView): void;
  ended?(outcome: AttemptOutcome): void;
  /**
   * No address is left that is healthy and admitted, and nothing has been sent. The name of another upstream to use, an answer
   * to give, or null: 503.
   */
  noAddress?(): { readonly upstream: string } | { readonly reply: Reply } | null;
}
