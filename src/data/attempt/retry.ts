import type { AttemptOutcome, AttemptResult } from '../../plugin-sdk/attempts.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { Exchange } from '../request/exchange.ts';
import type { RuntimeService } from '../snapshot/runtime.ts';
import type { UpstreamPolicy } from './upstream-policy.ts';

/** Stale links of one request, at most. Those after it count as failed attempts. */
const maxStaleLinks = 100;

/**
 * Reports a backend's status to plugins. Returns the milliseconds until another attempt, which replaces this answer; null: no
 * plugin wants one.
 */
export function retryAfterAnswer(x: Exchange, policy: UpstreamPolicy, status: number): number | null {
  if (!policy.needsOutcome) return null;
  const outcome = attemptOutcome(x, 'answered', status, true);
  policy.ended(outcome);
  return policy.retries === null || !outcome.repeatable ? null : policy.retries.next(outcome);
}

/**
 * Reports a failed attempt to plugins. Returns the milliseconds until the next; null: there is none. `unsent`: the backend
 * cannot have seen the request. `begun`: it had begun to answer.
 *
 * A failed connect is always retried. A request that was sent is retried only before the first byte of an answer, when its
 * method is idempotent and its body can be sent again. The policy of a plugin replaces these rules.
 */
export function retryAfterFailure(
  x: Exchange,
  error: ErrorEntry,
  result: AttemptResult,
  unsent: boolean,
  begun: boolean,
): number | null {
  const { policy } = x;
  const repeatable = error !== errors.nameResolution && isReplayable(x);
  let pause: number | null = null;
  if (policy?.needsOutcome) {
    const outcome = attemptOutcome(x, result, error.status, !unsent);
    policy.ended(outcome);
    if (repeatable && policy.retries !== null) pause = policy.retries.next(outcome);
  }
  if (policy === null || policy.retries === null) {
    // As in nginx, a request is not sent again once its answer has begun.
    const allowed = !begun && (unsent || isIdempotent(sentMethod(x)));
    if (repeatable && allowed && x.tries <= (x.service as RuntimeService).retries) pause = 0;
  }
  return pause;
}

/** The link had been kept idle, and failed in a way that leaves it safe to send the request again. */
export function isStale(x: Exchange, error: ErrorEntry): boolean {
  const unseen = error === errors.upstreamRefused;
  const harmless = unseen || (error === errors.upstreamClosed && isIdempotent(sentMethod(x)));
  return harmless && x.staleLinks < maxStaleLinks && isReplayable(x);
}

/** Reports an attempt that ends without a result. `sent`: the backend may have seen the request. */
export function reportStopped(x: Exchange, policy: UpstreamPolicy, sent: boolean): void {
  if (policy.attemptOpen && policy.needsOutcome) policy.ended(attemptOutcome(x, 'stopped', 0, sent));
}

/** Records an attempt that the total timeout of the request ends. */
export function reportTotalTimeout(x: Exchange): void {
  if (x.policy?.attemptOpen !== true) return;
  const { status } = errors.totalTimeout;
  x.failAttempt(status);
  x.policy.ended(attemptOutcome(x, 'total-timeout', status, true));
}

/** What plugins receive about an attempt that has ended. `sent`: the backend may have seen the request. */
function attemptOutcome(x: Exchange, result: AttemptResult, status: number, sent: boolean): AttemptOutcome {
  return {
    result,
    status,
    attempt: x.tries,
    address: x.target as RuntimeTarget,
    duration: monotonic() - x.attemptStartedMono,
    sent,
    method: sentMethod(x),
    repeatable: isReplayable(x),
  };
}

/** The method that the backend receives. */
function sentMethod(x: Exchange): string {
  return x.upstreamMethod ?? x.head.method;
}

/** nginx's rule, which Kong's users know: every method except POST, LOCK and PATCH may be sent again. */
function isIdempotent(method: string): boolean {
  return method !== 'POST' && method !== 'LOCK' && method !== 'PATCH';
}

/** The request body, if there is one, can be sent again. */
function isReplayable({ body }: Exchange): boolean {
  return body === null || body.replayable;
}
