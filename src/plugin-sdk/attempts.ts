import type { Reply } from './reply.ts';

/** How long to wait for a backend, in milliseconds; 0: without limit. */
export interface UpstreamTimeouts {
  /** For the connection, TLS included. */
  readonly connect: number;
  /** Between two writes. */
  readonly send: number;
  /** From the end of the request to the first byte of the response. */
  readonly firstByte: number;
  /** Between two reads. */
  readonly idle: number;
  /** From the start of the request to the end of the response, all attempts included. */
  readonly total: number;
}

/** One address of a target, or that of a service without an upstream. */
export interface AddressView {
  /** UUID of the target or the service. */
  readonly id: string;
  readonly host: string;
  readonly port: number;
  /** Index in the node's table of addresses, the same in all workers; 0 for a service without an upstream. */
  readonly slot: number;
}

/**
 * How an attempt ended: with the head of a response (`answered`), or with a failure before it. `stopped`: the client
 * disconnected, or the gateway gave the request up for a reason that has nothing to do with this address.
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

/**
 * The end of one attempt at a backend.
 *
 * @example
 * next: ({ attempt, sent, method, status }) => (attempt < 3 && status >= 502 && (!sent || method === 'GET') ? 100 : null),
 */
export interface AttemptOutcome {
  readonly result: AttemptResult;
  /** Of the response. After a failure, what the client would receive: 502 or 504; 0 for `stopped`. */
  readonly status: number;
  /** Number of the attempt, from 1. */
  readonly attempt: number;
  readonly address: AddressView;
  /** Milliseconds since the attempt began. */
  readonly duration: number;
  /** The backend may have received the request. To send it again may repeat its effect. */
  readonly sent: boolean;
  /** Method sent to the backend. */
  readonly method: string;
  /** The gateway can send the request again: it still has the whole body. If false, there is no other attempt. */
  readonly repeatable: boolean;
}

/**
 * Decides whether a request is sent again; replaces the service's `retries`. Passed to `upstream.setRetries`.
 *
 * @example
 * context.upstream.setRetries({
 *   tryTimeout: 2000,
 *   deadlineHeader: null,
 *   next: ({ attempt, status, sent, method }) =>
 *     attempt < 3 && status >= 502 && (!sent || method === 'GET') ? 100 * attempt : null,
 * });
 */
export interface RetryPolicy {
  /** Milliseconds from the start of an attempt to the first byte of its response; 0: no limit. */
  readonly tryTimeout: number;
  /**
   * Called after each attempt that another one could make good, also after a response whose bytes have not been passed on.
   * Returns the milliseconds to wait before the next attempt; null: this outcome is final.
   */
  next(outcome: AttemptOutcome): number | null;
  /** Request header that gives the backend the rest of the total timeout, in milliseconds; null: none. */
  readonly deadlineHeader: string | null;
}

/**
 * Observes the attempts of a request and can exclude addresses. Passed to `upstream.watchAttempts`.
 *
 * @example
 * context.upstream.watchAttempts({
 *   admits: ({ host }) => !drained.has(host),
 *   ended: ({ result, duration }) => result === 'answered' && report(duration),
 * });
 */
export interface AttemptWatcher {
  /** False: the address is not used for the attempt that is being prepared. */
  admits?(address: AddressView): boolean;
  /** An attempt begins. Exactly one `ended` follows. */
  begun?(address: AddressView): void;
  ended?(outcome: AttemptOutcome): void;
  /**
   * No healthy address is admitted, and nothing has been sent. Returns the name of another upstream, a reply, or null for
   * the 503 of the gateway.
   */
  noAddress?(): { readonly upstream: string } | { readonly reply: Reply } | null;
}
