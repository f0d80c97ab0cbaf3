import { monotonic } from '../../shared/util/time/clock.ts';
import type { Exchange } from '../request/exchange.ts';

/** `Server-Timing` (W3C) of an answer whose head is being sent: milliseconds of the gateway and of the backend. */
export function serverTimingLine(x: Exchange): string {
  return `Server-Timing: ${serverTiming(x)}\r\n`;
}

export function serverTiming({ startedMono, upstreamStartedMono, firstByteMono }: Exchange): string {
  const now = monotonic();
  if (upstreamStartedMono === 0) return `gateway;dur=${milliseconds(now - startedMono)}`;
  const answered = firstByteMono > 0 ? firstByteMono : now;
  const upstream = answered - upstreamStartedMono;
  return `gateway;dur=${milliseconds(now - startedMono - upstream)}, upstream;dur=${milliseconds(upstream)}`;
}

/** To a microsecond. */
export function milliseconds(value: number): number {
  return Math.round(value * 1000) / 1000;
}
