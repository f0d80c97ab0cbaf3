import type { RequestView } from '../request-views.ts';
import type { UpstreamRequestEdit } from '../upstream-request-edit.ts';

/** Forms in which a request carries its trace. `b3`: several headers; `b3-single`: one. */
export type TraceFormat = 'w3c' | 'b3' | 'b3-single' | 'jaeger' | 'ot' | 'datadog' | 'aws' | 'gcp';

/** Forms by which headers are read; `b3` stands for both of its kind. */
export type ReadFormat = Exclude<TraceFormat, 'b3-single'>;

export const readFormats: readonly ReadFormat[] = Object.freeze(['w3c', 'b3', 'jaeger', 'ot', 'datadog', 'aws', 'gcp']);

/** What the headers of a client say. */
export interface RemoteTrace {
  /** Null: none of them; another plugin of the same request began the trace. */
  readonly format: TraceFormat | null;
  /** 32 hexadecimal digits, those of a 64-bit id behind zeros; '' when the client tells a decision only. */
  readonly traceId: string;
  /** The client's trace id has 64 bits. */
  readonly short: boolean;
  /** The client's span, 16 hexadecimal digits; '' when there is none. */
  readonly spanId: string;
  /** Whether the client records the trace; null: it does not say. */
  readonly sampled: boolean | null;
  /** The client wants the trace whatever the load (`d` of B3, a Jaeger flag, priority 2 of Datadog). */
  readonly debug: boolean;
  /** What goes along unread: `tracestate`, `x-datadog-tags`. '' when there is nothing. */
  readonly state: string;
}

/** What the backend is told. */
export interface OutgoingTrace {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** Written with 64 bits where the form has a choice. */
  readonly short: boolean;
  /** The span of which the backend's will be a child, 16 hexadecimal digits. */
  readonly spanId: string;
  /** The parent of that span; '' when it is not known. Only B3 and Jaeger have a place for it. */
  readonly parentId: string;
  readonly sampled: boolean;
  /** What the trace came from; null: it begins here. */
  readonly remote: RemoteTrace | null;
}

/** One form of headers. */
export interface HeaderFormat {
  /** Null: nothing of the kind, or malformed. Linear in the length of the headers. */
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
export function lowHalf(traceId: string): string {
  return traceId.slice(16);
}

/** As forms write it that know 64 and 128 bits. */
export function writtenTraceId({ traceId, short }: OutgoingTrace): string {
  return short ? lowHalf(traceId) : traceId;
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

/** The one value of a header; '' when there is none, or several: nobody can say which of them is meant. */
export function onlyValue(request: RequestView, name: string): string {
  const values = request.headerValues(name);
  return values.length === 1 ? (values[0] ?? '') : '';
}
