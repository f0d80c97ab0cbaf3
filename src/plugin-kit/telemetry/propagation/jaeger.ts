import { type HeaderFormat, onlyValue, paddedSpan, paddedTrace, writtenTraceId } from './formats.ts';

/*
 * Jaeger: `uber-trace-id: {trace}:{span}:{parent}:{flags}`. Ids have no zeros before them, and colons may be escaped.
 */

const form = /^([0-9a-f]{1,32}):([0-9a-f]{1,16}):([0-9a-f]{1,16}):([0-9a-f]{1,2})$/i;
const zero = /^0+$/;

export const jaeger: HeaderFormat = {
  read(request) {
    const value = onlyValue(request, 'uber-trace-id');
    if (value.length > 80) return null;
    const found = form.exec(value.includes('%') ? value.replaceAll(/%3a/gi, ':') : value);
    if (found === null) return null;
    const [, trace = '', span = '', , flags = ''] = found;
    if (zero.test(trace) || zero.test(span)) return null;
    const bits = Number.parseInt(flags, 16);
    return {
      format: 'jaeger',
      traceId: paddedTrace(trace.toLowerCase()),
      short: trace.length <= 16,
      spanId: paddedSpan(span.toLowerCase()),
      sampled: (bits & 1) === 1,
      debug: (bits & 3) === 3,
      state: '',
    };
  },
  write(trace, upstream) {
    const { spanId, parentId, sampled, remote } = trace;
    const flags = sampled ? (remote?.debug === true ? '3' : '1') : '0';
    const parent = parentId === '' ? '0' : parentId;
    upstream.setHeader('uber-trace-id', `${writtenTraceId(trace)}:${spanId}:${parent}:${flags}`);
  },
};
