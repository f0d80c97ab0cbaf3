import { headerValue } from '../../shared/http/header-block.ts';
import { seconds } from '../../shared/logs/log-times.ts';
import { type Exchange, endOf } from '../request/exchange.ts';

/**
 * The authenticated user: with basic authentication the user name, as in nginx; else the consumer. Null: no user, or the
 * anonymous consumer.
 */
export function remoteUser({ consumer, credential, head }: Exchange): string | null {
  if (credential === null) return null;
  const { identifier } = credential;
  if (identifier !== null && /^basic /i.test(headerValue(head.block, 'authorization') ?? '')) return identifier;
  return consumer?.username ?? identifier;
}

/** The addresses of all attempts, in order: `10.0.0.1:80, 10.0.0.2:80`. Null: no attempt. */
export function upstreamAddresses(x: Exchange): string | null {
  if (x.failedAttempts === null) return x.targetIp === '' ? null : address(x.targetIp, x.targetPort);
  const failed = x.failedAttempts.map(({ ip, port }) => address(ip, port));
  return (lastServed(x) ? [...failed, address(x.targetIp, x.targetPort)] : failed).join(', ');
}

/** The status of each attempt. */
export function upstreamStatuses(x: Exchange): string | null {
  if (x.failedAttempts === null) return x.upstreamStatus > 0 ? `${x.upstreamStatus}` : null;
  const failed = x.failedAttempts.map((attempt) => `${attempt.failed}`);
  return (lastServed(x) ? [...failed, x.upstreamStatus > 0 ? `${x.upstreamStatus}` : '-'] : failed).join(', ');
}

/** Seconds that each attempt took, to the end of its answer. */
export function upstreamTimes(x: Exchange): string | null {
  if (x.targetIp === '') return null;
  return perAttempt(x, seconds(endOf(x) - x.attemptStartedMono));
}

/** Seconds until the head of each answer; `-` without an answer. */
export function upstreamHeaderTimes(x: Exchange): string | null {
  if (x.targetIp === '') return null;
  const last = x.firstByteMono > 0 ? seconds(x.firstByteMono - x.attemptStartedMono) : '-';
  if (x.failedAttempts === null) return last;
  const failed = x.failedAttempts.map(() => '-');
  return (lastServed(x) ? [...failed, last] : failed).join(', ');
}

/** A failed attempt lasts until the next begins. */
function perAttempt(x: Exchange, last: string): string {
  const failed = x.failedAttempts;
  if (failed === null) return last;
  const served = lastServed(x);
  const end = served ? x.attemptStartedAt : x.startedAt + (endOf(x) - x.startedMono);
  const times = failed.map(({ startedAt }, at) => seconds((failed[at + 1]?.startedAt ?? end) - startedAt));
  return (served ? [...times, last] : times).join(', ');
}

/** The last attempt did not fail. */
function lastServed(x: Exchange): boolean {
  return x.target !== null && x.tries > (x.failedAttempts?.length ?? 0);
}

function address(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}
