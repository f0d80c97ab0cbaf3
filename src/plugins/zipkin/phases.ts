import type { LogContext } from '../../plugin-sdk/index.ts';
import { microseconds, type ZipkinAnnotation } from './zipkin-span.ts';

/** A phase of the gateway with its times; the letters are those of Kong's annotations. */
interface Phase {
  readonly name: string;
  readonly letter: string;
  readonly start: number;
  readonly end: number;
}

/** The phases of a finished request; each one begins where the previous one ended. */
export function phasesOf({ measures, trace }: LogContext): readonly Phase[] {
  const { startedAt, total, gateway, upstream } = measures;
  const spans = trace?.spans ?? [];
  const router = spans.find(({ kind }) => kind === 'router');
  const end = startedAt + total;
  const routed = router === undefined ? startedAt : router.start;
  const sent = startedAt + gateway;
  const filters = spans.filter(({ kind, facts }) => kind === 'plugin' && facts['phase'] === 'headerFilter');
  const answered = upstream < 0 ? (filters[0]?.start ?? sent) : sent + upstream;
  const filtered = Math.max(answered, ...filters.map((one) => one.end));
  return [
    { name: 'rewrite', letter: 'r', start: startedAt, end: routed },
    { name: 'access', letter: 'a', start: routed, end: Math.max(routed, Math.min(sent, answered)) },
    { name: 'header_filter', letter: 'h', start: answered, end: filtered },
    { name: 'body_filter', letter: 'b', start: filtered, end: Math.max(filtered, end) },
  ];
}

/** `krs` and `krf` for the begin and end of rewrite, and so on. */
export function annotationsOf(phases: readonly Phase[]): readonly ZipkinAnnotation[] {
  return phases.flatMap(({ letter, start, end }) => [
    { timestamp: microseconds(start), value: `k${letter}s` },
    { timestamp: microseconds(end), value: `k${letter}f` },
  ]);
}

export function durationTags(phases: readonly Phase[]): Readonly<Record<string, number>> {
  return Object.fromEntries(
    phases.map(({ name, start, end }) => [`kong.${name}.duration_ms`, Math.max(0, Math.round(end - start))]),
  );
}
