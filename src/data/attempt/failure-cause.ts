import type { AttemptResult, UpstreamTimeouts } from '../../plugin-sdk/attempts.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';

/**
 * For logs and explanations: why an attempt failed when no more specific cause is known: which timeout expired, or what the
 * backend did. '' for other errors.
 *
 * @param tryTimeout Milliseconds of one attempt, when that expired; else null.
 */
export function failureCause(error: ErrorEntry, timeouts: UpstreamTimeouts, tryTimeout: number | null): string {
  if (tryTimeout !== null) return `no answer within the ${tryTimeout} ms of an attempt`;
  switch (error) {
    case errors.connectTimeout:
      return `no connection within ${timeouts.connect} ms`;
    case errors.sendTimeout:
      return `nothing of the request taken within ${timeouts.send} ms`;
    case errors.firstByteTimeout:
      return `no answer within ${timeouts.firstByte} ms`;
    case errors.idleTimeout:
      return `no more of the answer within ${timeouts.idle} ms`;
    case errors.upstreamClosed:
      return 'the backend closed the connection before it answered';
    case errors.upstreamRefused:
      return 'the backend refused the request without processing it';
    case errors.badResponse:
      return 'the backend sent something that is not a valid HTTP response';
    case errors.responseTooLarge:
      return 'the head of the response is too large';
    default:
      return '';
  }
}

export function connectResult(error: ErrorEntry): AttemptResult {
  return error === errors.connectTimeout ? 'connect-timeout' : 'connect-failed';
}

export function linkResult(error: ErrorEntry): AttemptResult {
  if (error === errors.sendTimeout) return 'send-timeout';
  if (error === errors.firstByteTimeout || error === errors.idleTimeout) return 'first-byte-timeout';
  return error === errors.upstreamClosed || error === errors.upstreamRefused ? 'closed' : 'bad-answer';
}
