import type { RequestView } from '../../../plugin-sdk/request-views.ts';
import {
  type HeaderFormat,
  isSpanId,
  isTraceId,
  type OutgoingTrace,
  onlyValue,
  paddedTrace,
  type RemoteTrace,
  writtenTraceId,
} from './formats.ts';

/*
 * B3 of Zipkin: `X-B3-TraceId` and others, or `b3` alone. The single header takes precedence.
 */

export const b3: HeaderFormat = {
  read: (request) => single(onlyValue(request, 'b3')) ?? several(request),
  write(trace, upstream) {
    upstream.setHeader('x-b3-traceid', writtenTraceId(trace));
    upstream.setHeader('x-b3-spanid', trace.spanId);
    if (trace.parentId === '') upstream.removeHeader('x-b3-parentspanid');
    else upstream.setHeader('x-b3-parentspanid', trace.parentId);
    // Debug implies that it is sampled; the two never go together.
    if (isDebug(trace)) {
      upstream.setHeader('x-b3-flags', '1');
      upstream.removeHeader('x-b3-sampled');
    } else {
      upstream.setHeader('x-b3-sampled', trace.sampled ? '1' : '0');
      upstream.removeHeader('x-b3-flags');
    }
  },
};

export const b3Single: HeaderFormat = {
  read: (request) => single(onlyValue(request, 'b3')),
  write(trace, upstream) {
    const state = isDebug(trace) ? 'd' : trace.sampled ? '1' : '0';
    const parent = trace.parentId === '' ? '' : `-${trace.parentId}`;
    upstream.setHeader('b3', `${writtenTraceId(trace)}-${trace.spanId}-${state}${parent}`);
  },
};

function isDebug({ sampled, remote }: OutgoingTrace): boolean {
  return sampled && remote?.debug === true;
}

/** `{trace}-{span}[-{state}[-{parent}]]`, or the state alone. */
function single(value: string): RemoteTrace | null {
  if (value.length === 0 || value.length > 80) return null;
  if (value.length === 1) return remoteTrace('b3-single', '', '', value);
  const parts = value.split('-');
  const [traceId = '', spanId = '', state = '', parent] = parts;
  if (parts.length > 4 || !isTraceId(traceId) || !isSpanId(spanId)) return null;
  if (parts.length > 2 && !isState(state)) return null;
  if (parent !== undefined && !isSpanId(parent)) return null;
  return remoteTrace('b3-single', traceId, spanId, state);
}

function several(request: RequestView): RemoteTrace | null {
  const traceId = onlyValue(request, 'x-b3-traceid');
  const spanId = onlyValue(request, 'x-b3-spanid');
  const state = onlyValue(request, 'x-b3-flags') === '1' ? 'd' : sampledState(onlyValue(request, 'x-b3-sampled'));
  return isTraceId(traceId) && isSpanId(spanId)
    ? remoteTrace('b3', traceId, spanId, state)
    : remoteTrace('b3', '', '', state);
}

/** Old clients send words. */
function sampledState(value: string): string {
  if (value === '1' || value === 'true') return '1';
  return value === '0' || value === 'false' ? '0' : '';
}

function isState(state: string): boolean {
  return state === '0' || state === '1' || state === 'd';
}

function remoteTrace(format: 'b3' | 'b3-single', traceId: string, spanId: string, state: string): RemoteTrace | null {
  if (traceId === '' && !isState(state)) return null;
  return {
    format,
    traceId: traceId === '' ? '' : paddedTrace(traceId),
    short: traceId.length === 16,
    spanId,
    sampled: state === '' ? null : state !== '0',
    debug: state === 'd',
    state: '',
  };
}
