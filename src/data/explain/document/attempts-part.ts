import type { TraceSpan } from '../../../plugin-sdk/trace.ts';
import { milliseconds } from '../../answer/server-timing.ts';
import type { ExplainRecorder } from '../explain-recorder.ts';

/** Every attempt at a backend, including those of plugins' calls. */
export function attemptsPart(recorder: ExplainRecorder): readonly Readonly<Record<string, unknown>>[] {
  const { spans, calls } = recorder;
  const attempts: Readonly<Record<string, unknown>>[] = [];
  for (const [at, span] of spans.entries()) {
    if (span.kind !== 'attempt') continue;
    const { facts } = span;
    const call = calls.get(at);
    attempts.push({
      ...(call === undefined ? {} : { called_by: call }),
      try: facts['try'],
      host: facts['host'],
      address: addressText(String(facts['ip']), Number(facts['port'])),
      connection: facts['pooled'] === true ? 'kept open' : 'new',
      connect_ms: connectTime(spans, at),
      ms: span.end === 0 ? null : milliseconds(span.end - span.start),
      status: facts['status'] ?? null,
      failed: facts['failed'] === true,
      ...(isStale(recorder, at) ? { cause: 'the backend had closed the connection before: not counted' } : {}),
      ...(facts['cause'] === undefined ? {} : { error: facts['cause'] }),
      ...(facts['reason'] === undefined ? {} : { cause: facts['reason'] }),
    });
  }
  return attempts;
}

export function addressText(ip: string, port: number): string {
  return `${ip.includes(':') ? `[${ip}]` : ip}:${port}`;
}

/** Repeated at once, under the same number. */
function isStale({ spans, calls }: ExplainRecorder, at: number): boolean {
  const facts = spans[at]?.facts ?? {};
  if (facts['status'] !== undefined || facts['pooled'] !== true || calls.has(at)) return false;
  const next = spans.find(({ kind }, index) => index > at && kind === 'attempt' && !calls.has(index));
  return next?.facts['try'] === facts['try'] && next?.facts['host'] === facts['host'];
}

/** The connection of an attempt is opened right after its start. */
function connectTime(spans: readonly TraceSpan[], at: number): number | null {
  const next = spans[at + 1];
  return next?.kind !== 'connect' || next.end === 0 ? null : milliseconds(next.end - next.start);
}
