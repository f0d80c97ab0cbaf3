import type { TraceSpan } from '../../plugin-sdk/trace.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { milliseconds } from '../answer/server-timing.ts';
import type { Exchange } from '../request/exchange.ts';

/** Which parts of the timeline are requested. */
export type DebugFilter = 'all' | ReadonlySet<string>;

/** A part of the timeline: milliseconds, and its children. */
interface Part {
  total_time: number;
  child?: Record<string, Part>;
  [detail: string]: unknown;
}

/** Maximum bytes of the header's value: above it, details are dropped. */
const longest = 4096;

/**
 * Parses `X-Kong-Request-Debug`: `*`, or names of parts (`rewrite`, `access`, `balancer`, `upstream`, `response`).
 * Null: nothing is requested.
 */
export function debugFilter(values: readonly string[]): DebugFilter | null {
  const names = values.flatMap((value) => value.split(',')).map((name) => name.trim().toLowerCase());
  if (names.includes('*')) return 'all';
  const known = names.filter((name) => /^[a-z_]{1,32}$/.test(name));
  return known.length === 0 ? null : new Set(known);
}

/** The timeline as JSON on one line, in ASCII, in the form that Kong's tools read. */
export function debugOutput(x: Exchange, spans: readonly TraceSpan[], filter: DebugFilter): string {
  const whole = ascii(JSON.stringify(timeline(x, spans, filter, true)));
  if (whole.length <= longest) return whole;
  const short = ascii(JSON.stringify({ truncated: true, ...timeline(x, spans, filter, false) }));
  return short.length <= longest ? short : JSON.stringify({ truncated: true, request_id: x.id });
}

function timeline(
  x: Exchange,
  spans: readonly TraceSpan[],
  filter: DebugFilter,
  detailed: boolean,
): Record<string, unknown> {
  const own = spans.filter(({ end }) => end > 0);
  const parts: Record<string, Part> = {};
  const add = (name: string, part: Part): void => {
    if (filter === 'all' || filter.has(name)) parts[name] = part;
  };
  add('rewrite', pluginPart(own, 'rewrite', detailed, {}));
  add('access', pluginPart(own, 'access', detailed, { router: sum(own, 'router'), ...dnsPart(own, detailed) }));
  add('balancer', sum(own, 'balancer'));
  if (x.upstreamStartedMono > 0) add('upstream', upstreamPart(x, own));
  add('response', pluginPart(own, 'response', detailed, {}));
  add('header_filter', pluginPart(own, 'headerFilter', detailed, {}));
  return { child: parts, request_id: x.id, total_time: milliseconds(monotonic() - x.startedMono) };
}

function upstreamPart(x: Exchange, spans: readonly TraceSpan[]): Part {
  const answered = x.firstByteMono > 0 ? x.firstByteMono : monotonic();
  const time = milliseconds(answered - x.upstreamStartedMono);
  return { total_time: time, child: { connect: sum(spans, 'connect'), time_to_first_byte: { total_time: time } } };
}

function pluginPart(spans: readonly TraceSpan[], phase: string, detailed: boolean, others: Record<string, Part>): Part {
  const ran = spans.filter(({ kind, facts }) => kind === 'plugin' && facts['phase'] === phase);
  const plugins: Record<string, Part> = {};
  for (const span of ran) {
    const before = plugins[span.name]?.total_time ?? 0;
    plugins[span.name] = { total_time: milliseconds(before + span.end - span.start) };
  }
  const child = {
    ...others,
    ...(ran.length > 0 && detailed ? { plugins: { total_time: total(ran), child: plugins } } : {}),
  };
  const times = Object.values(others).reduce((all, { total_time }) => all + total_time, total(ran));
  return { total_time: milliseconds(times), ...(Object.keys(child).length === 0 ? {} : { child }) };
}

function dnsPart(spans: readonly TraceSpan[], detailed: boolean): Record<string, Part> {
  const asked = spans.filter(({ kind }) => kind === 'dns');
  if (asked.length === 0) return {};
  const names: Record<string, Part> = Object.create(null);
  for (const { name, start, end } of asked) names[name] = { total_time: milliseconds(end - start) };
  return { dns: { total_time: total(asked), ...(detailed ? { child: names } : {}) } };
}

function sum(spans: readonly TraceSpan[], kind: TraceSpan['kind']): Part {
  return { total_time: total(spans.filter((span) => span.kind === kind)) };
}

function total(spans: readonly TraceSpan[]): number {
  return milliseconds(spans.reduce((all, { start, end }) => all + end - start, 0));
}

/** A header contains ASCII characters only. */
function ascii(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
