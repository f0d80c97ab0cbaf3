import type { RequestView } from '../../../plugin-sdk/request-views.ts';
import type { UpstreamRequestEdit } from '../../../plugin-sdk/upstream-request-edit.ts';

/** Formats of trace headers. `b3`: several headers; `b3-single`: one. */
export type TraceFormat = 'w3c' | 'b3' | 'b3-single' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp';

/** Forms by which headers are read; `b3` means both of its forms. */
export type ReadFormat = Exclude<TraceFormat, 'b3-single'>;

export const readFormats: readonly ReadFormat[] = Object.freeze(['w3c', 'b3', 'jaeger', 'ot', 'datadog', 'aws', 'gcp']);

/** The trace context from a client's headers. */
export interface RemoteTrace {
  /** Null: no headers; another plugin of the same request started the trace. */
  readonly format: TraceFormat | null;
  /** 32 hexadecimal digits, those of a 64-bit id behind zeros; '' when the client sends only a decision. */
  readonly traceId: string;
  /** The client's trace id has 64 bits. */
  readonly short: boolean;
  /** The client's span, 16 hexadecimal digits; '' when there is none. */
  readonly spanId: string;
  /** Whether the client records the trace; null: unknown. */
  readonly sampled: boolean | null;
  /** The client wants the trace whatever the load (`d` of B3, a Jaeger flag, priority 2 of Datadog). */
  readonly debug: boolean;
  /** Forwarded without parsing: `tracestate`, `x-datadog-tags`. '' when absent. */
  readonly state: string;
}

/** The trace that the backend receives. */
export interface OutgoingTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Written with 64 bits if the format allows it. */
  readonly short: boolean;
  /** The parent of the backend's span, 16 hexadecimal digits. */
  readonly spanId: string;
  /** The parent of that span; '' when it is not known. Only B3 and Jaeger have a place for it. */
  readonly parentId: string;
  readonly sampled: boolean;
  /** The client's trace context; null: the trace begins here. */
  readonly remote: RemoteTrace | null;
}

/** One format of trace headers. */
export interface HeaderFormat {
  /** Null: absent or malformed. Linear in the length of the headers. */
  read(request: RequestView): RemoteTrace | null;
  write(trace: OutgoingTrace, upstream: UpstreamRequestEdit): void;
}

const zeros = '0000000000000000';

/** 16 lower-case hexadecimal digits that are not all zero. */
export function isSpanId(text: string): boolean {
  return /^[0-9a-f]{16}$/.test(text) && text !== zeros;
}

/** The same with 16 or 32 digits. */
export function isTraceId(text: string): boolean {
  return /^(?:[0-9a-f]{16}){1,2}$/.test(text) && !/^0+$/.test(text);
}

/** An id of at most 16 digits, with zeros before it. */
export function paddedSpan(digits: string): string {
  return digits.padStart(16, '0');
}

/** An id of at most 32 digits, with zeros before it. */
export function paddedTrace(digits: string): string {
  return digits.padStart(32, '0');
}

/** The lower half of a trace id of 32 digits. */
export function low64Bits(traceId: string): string {
  return traceId.slice(16);
}

/** The trace id as formats with 64 and 128 bits write it. */
export function writtenTraceId({ traceId, short }: OutgoingTrace): string {
  return short ? low64Bits(traceId) : traceId;
}

/** 16 hexadecimal digits of a decimal number from 1 to 2^64 - 1; '' when it is none. */
export function spanOfDecimal(text: string): string {
  if (!/^(?!0)\d{1,20}$/.test(text)) return '';
  const number = BigInt(text);
  return number < 1n << 64n ? paddedSpan(number.toString(16)) : '';
}

export function decimalOf(digits: string): string {
  return BigInt(`0x${digits}`).toString();
}

/** The one value of a header; '' if there is none, or several, which are ambiguous. */
export function onlyValue(request: RequestView, name: string): string {
  const values = request.headerValues(name);
  return values.length === 1 ? (values[0] ?? '') : '';
}
