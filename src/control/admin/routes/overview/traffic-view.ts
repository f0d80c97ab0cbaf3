import { maxLatency, quantile, type Sketch, sketchCount } from '../../../../shared/usage/latency-sketch.ts';
import { type Second, sumTraffic, type Traffic } from '../../../overview/second-ring.ts';

type Shown = Readonly<Record<string, unknown>>;

/** The traffic of some seconds as JSON: seconds, bytes, milliseconds. */
export function shownTraffic(traffic: Traffic): Shown {
  const { duration, statuses, latencies, bytesIn, bytesOut, counts } = traffic;
  const seconds = duration / 1000;
  const [, , , clientErrors = 0, serverErrors = 0] = statuses;
  const requests = sketchCount(latencies);
  return {
    seconds: rounded(seconds),
    requests,
    requests_per_second: perSecond(requests, seconds),
    errors: { '4xx': clientErrors, '5xx': serverErrors },
    errors_per_second: perSecond(clientErrors + serverErrors, seconds),
    statuses: Object.fromEntries(statuses.map((count, at) => [`${at + 1}xx`, count])),
    latency: shownLatency(latencies),
    bytes_in: bytesIn,
    bytes_out: bytesOut,
    bad_requests: counts.badRequests,
    shed_requests: counts.shed,
    retries: counts.retries,
    backend_failures: counts.upstreamFailed,
    connections_accepted: counts.connectionsAccepted,
  };
}

/** One second of the live view. `time`: its end, seconds since the epoch. */
export function shownSecond(second: Second): Shown {
  const { at, inFlight, connections } = second;
  return { time: Math.round(at / 1000), ...shownTraffic(second), in_flight: inFlight, connections };
}

/** The last seconds: the last one, and the last ten, and the last minute, as far as the node has run. */
export function shownWindows(seconds: readonly Second[]): Shown {
  const latest = seconds.at(-1);
  return {
    last_second: shownTraffic(sumTraffic(seconds.slice(-1))),
    last_10_seconds: shownTraffic(sumTraffic(seconds.slice(-10))),
    last_minute: shownTraffic(sumTraffic(seconds.slice(-60))),
    in_flight: latest?.inFlight ?? 0,
    connections: latest?.connections ?? 0,
  };
}

function shownLatency(latencies: Sketch): Readonly<Record<string, number>> | null {
  if (latencies.length === 0) return null;
  const shown = (share: number): number => rounded(quantile(latencies, share, maxLatency) ?? 0);
  return { p50: shown(0.5), p90: shown(0.9), p99: shown(0.99) };
}

function perSecond(count: number, seconds: number): number {
  return seconds === 0 ? 0 : rounded(count / seconds);
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}
