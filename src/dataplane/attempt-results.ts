import { type ErrorEntry, errors } from '../errors.ts';
import type { AttemptResult } from '../plugin-sdk/attempts.ts';

export function connectResult(error: ErrorEntry): AttemptResult {
  return error === errors.connectTimeout ? 'connect-timeout' : 'connect-failed';
}

export function linkResult(error: ErrorEntry): AttemptResult {
  if (error === errors.sendTimeout) return 'send-timeout';
  if (error === errors.firstByteTimeout || error === errors.idleTimeout) return 'first-byte-timeout';
  return error === errors.upstreamClosed || error === errors.upstreamRefused ? 'closed' : 'bad-answer';
}

/** Kong's text is the same for all time-outs; this tells which one it was. */
const timeoutNames: ReadonlyMap<ErrorEntry, string> = new Map([
  [errors.connectTimeout, 'connect'],
  [errors.sendTimeout, 'send'],
  [errors.firstByteTimeout, 'first-byte'],
  [errors.idleTimeout, 'idle'],
  [errors.totalTimeout, 'total'],
]);

export function timeoutLine(error: ErrorEntry): string {
  const name = timeoutNames.get(error);
  return name === undefined ? '' : `X-Upstream-Timeout: ${name}\r\n`;
}
