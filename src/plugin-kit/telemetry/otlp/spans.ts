import { type Attributes, type KeyValue, keyValues, type Resource, scope, sentText } from './attributes.ts';
import { type Bits64, nanoseconds, otlpEncoder, otlpTypes } from './messages.ts';

/** A finished span. Ids are hexadecimal, times milliseconds since the epoch. */
export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  /** '' for the first of a trace. */
  readonly parentId: string;
  readonly name: string;
  readonly kind: 'internal' | 'server' | 'client';
  readonly start: number;
  readonly end: number;
  readonly attributes: Attributes;
  /** The reason of the failure, in one word; null: no failure. */
  readonly error: string | null;
  /** `tracestate` that came with the trace; only of the first span. */
  readonly traceState?: string;
}

const types = otlpTypes(`
message TracesRequest { repeated ResourceSpans resource_spans = 1; }
message ResourceSpans { Resource resource = 1; repeated ScopeSpans scope_spans = 2; }
message ScopeSpans { Scope scope = 1; repeated bytes spans = 2; }
message SpanStatus { string message = 2; int32 code = 3; }
message Span {
  bytes trace_id = 1;
  bytes span_id = 2;
  string trace_state = 3;
  bytes parent_span_id = 4;
  string name = 5;
  int32 kind = 6;
  fixed64 start_time_unix_nano = 7;
  fixed64 end_time_unix_nano = 8;
  repeated KeyValue attributes = 9;
  SpanStatus status = 15;
}
`);

interface SpanMessage {
  readonly traceId: Uint8Array;
  readonly spanId: Uint8Array;
  readonly traceState?: string;
  readonly parentSpanId?: Uint8Array;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: Bits64;
  readonly endTimeUnixNano: Bits64;
  readonly attributes: readonly KeyValue[];
  readonly status?: { readonly message?: string; readonly code: number };
}

interface TracesRequest {
  readonly resourceSpans: readonly {
    readonly resource: Resource;
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string; readonly version: string };
      readonly spans: readonly Uint8Array[];
    }[];
  }[];
}

const kinds = { internal: 1, server: 2, client: 3 } as const;
const failed = 2;

const writeSpan = otlpEncoder<SpanMessage>(types, 'Span');
const writeRequest = otlpEncoder<TracesRequest>(types, 'TracesRequest');

export function encodeSpan(span: Span): Uint8Array {
  const { traceState = '' } = span;
  return writeSpan({
    traceId: Buffer.from(span.traceId, 'hex'),
    spanId: Buffer.from(span.spanId, 'hex'),
    ...(traceState === '' ? {} : { traceState }),
    ...(span.parentId === '' ? {} : { parentSpanId: Buffer.from(span.parentId, 'hex') }),
    name: sentText(span.name),
    kind: kinds[span.kind],
    startTimeUnixNano: nanoseconds(span.start),
    // A span that ends before it began is refused by some.
    endTimeUnixNano: nanoseconds(Math.max(span.start, span.end)),
    attributes: keyValues(span.attributes),
    ...(span.error === null ? {} : { status: { message: sentText(span.error), code: failed } }),
  });
}

/** The message to send for spans of one resource. */
export function tracesRequest(resource: Resource, spans: readonly Uint8Array[]): Uint8Array {
  return writeRequest({ resourceSpans: [{ resource, scopeSpans: [{ scope, spans }] }] });
}
