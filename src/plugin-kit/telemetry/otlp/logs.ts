import { type AnyValue, type Attributes, type KeyValue, keyValues, type Resource, scope } from './attributes.ts';
import { type Bits64, nanoseconds, otlpEncoder, otlpTypes } from './messages.ts';

/** A line of a log. Times are milliseconds since the epoch. */
export interface LogLine {
  readonly time: number;
  /** When it was observed, if that is another time. */
  readonly observed: number;
  readonly severity: 'info' | 'warn' | 'error';
  readonly body: string;
  readonly attributes: Attributes;
  /** Hexadecimal; '' for none. */
  readonly traceId: string;
  readonly spanId: string;
  readonly sampled: boolean;
}

const types = otlpTypes(`
message LogsRequest { repeated ResourceLogs resource_logs = 1; }
message ResourceLogs { Resource resource = 1; repeated ScopeLogs scope_logs = 2; }
message ScopeLogs { Scope scope = 1; repeated bytes log_records = 2; }
message LogRecord {
  fixed64 time_unix_nano = 1;
  int32 severity_number = 2;
  string severity_text = 3;
  AnyValue body = 5;
  repeated KeyValue attributes = 6;
  fixed32 flags = 8;
  bytes trace_id = 9;
  bytes span_id = 10;
  fixed64 observed_time_unix_nano = 11;
}
`);

interface LogMessage {
  readonly timeUnixNano: Bits64;
  readonly severityNumber: number;
  readonly severityText: string;
  readonly body: AnyValue;
  readonly attributes: readonly KeyValue[];
  readonly flags: number;
  readonly traceId?: Uint8Array;
  readonly spanId?: Uint8Array;
  readonly observedTimeUnixNano: Bits64;
}

interface LogsRequest {
  readonly resourceLogs: readonly {
    readonly resource: Resource;
    readonly scopeLogs: readonly {
      readonly scope: { readonly name: string; readonly version: string };
      readonly logRecords: readonly Uint8Array[];
    }[];
  }[];
}

const severities = { info: 9, warn: 13, error: 17 } as const;

const writeRecord = otlpEncoder<LogMessage>(types, 'LogRecord');
const writeRequest = otlpEncoder<LogsRequest>(types, 'LogsRequest');

export function encodeLogLine(line: LogLine): Uint8Array {
  return writeRecord({
    timeUnixNano: nanoseconds(line.time),
    severityNumber: severities[line.severity],
    severityText: line.severity.toUpperCase(),
    // Never cut, unlike attributes: it is JSON.
    body: { stringValue: line.body.toWellFormed() },
    attributes: keyValues(line.attributes),
    flags: line.sampled ? 1 : 0,
    ...(line.traceId === '' ? {} : { traceId: Buffer.from(line.traceId, 'hex') }),
    ...(line.spanId === '' ? {} : { spanId: Buffer.from(line.spanId, 'hex') }),
    observedTimeUnixNano: nanoseconds(line.observed),
  });
}

/** The message to send for lines of one resource. */
export function logsRequest(resource: Resource, logRecords: readonly Uint8Array[]): Uint8Array {
  return writeRequest({ resourceLogs: [{ resource, scopeLogs: [{ scope, logRecords }] }] });
}
