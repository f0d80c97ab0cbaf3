import { decimalOf, low64Bits, type OutgoingTrace, type TraceFormat, writtenTraceId } from './formats.ts';

/** A trace id as a format writes it. */
export function loggedId(format: TraceFormat, trace: OutgoingTrace): string {
  switch (format) {
    case 'datadog':
      return decimalOf(low64Bits(trace.traceId));
    case 'aws':
      return `1-${trace.traceId.slice(0, 8)}-${trace.traceId.slice(8)}`;
    case 'w3c':
    case 'gcp':
      return trace.traceId;
    default:
      return writtenTraceId(trace);
  }
}
