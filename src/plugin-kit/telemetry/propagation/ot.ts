import {
  type HeaderFormat,
  isSpanId,
  isTraceId,
  onlyValue,
  paddedTrace,
  type RemoteTrace,
  writtenTraceId,
} from './formats.ts';

/*
 * OpenTracing's basic tracers: `ot-tracer-traceid`, `ot-tracer-spanid`, `ot-tracer-sampled`. Baggage is forwarded as any other header.
 */

const answers: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['1', true],
  ['false', false],
  ['0', false],
]);

export const ot: HeaderFormat = {
  read(request): RemoteTrace | null {
    const traceId = onlyValue(request, 'ot-tracer-traceid').toLowerCase();
    const spanId = onlyValue(request, 'ot-tracer-spanid').toLowerCase();
    const sampled = answers.get(onlyValue(request, 'ot-tracer-sampled')) ?? null;
    const whole = isTraceId(traceId) && isSpanId(spanId);
    if (!whole && sampled === null) return null;
    return {
      format: 'ot',
      traceId: whole ? paddedTrace(traceId) : '',
      short: whole && traceId.length === 16,
      spanId: whole ? spanId : '',
      sampled,
      debug: false,
      state: '',
    };
  },
  write(trace, upstream) {
    upstream.setHeader('ot-tracer-traceid', writtenTraceId(trace));
    upstream.setHeader('ot-tracer-spanid', trace.spanId);
    upstream.setHeader('ot-tracer-sampled', trace.sampled ? 'true' : 'false');
  },
};
