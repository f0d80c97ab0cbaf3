import { type ErrorEntry, errors } from '../errors.ts';
import type { UpstreamTimeouts } from '../plugin-sdk/attempts.ts';

/**
 * For logs and explanations: which time was over, and how long it was. '' for failures that are no time-outs.
 *
 * @param tryTimeout Milliseconds of one attempt, when that was over; else null.
 */
export function timeoutCause(error: ErrorEntry, timeouts: UpstreamTimeouts, tryTimeout: number | null): string {
  if (tryTimeout !== null) return `no answer within the ${tryTimeout} ms of an attempt`;
  if (error === errors.connectTimeout) return `no connection within ${timeouts.connect} ms`;
  if (error === errors.sendTimeout) return `nothing of the request taken within ${timeouts.send} ms`;
  if (error === errors.firstByteTimeout) return `no answer within ${timeouts.firstByte} ms`;
  return error === errors.idleTimeout ? `no more of the answer within ${timeouts.idle} ms` : '';
}
