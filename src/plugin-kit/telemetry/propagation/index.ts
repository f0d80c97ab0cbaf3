/**
 * Trace headers: `sluicegate/plugin-kit/telemetry/propagation`. `Tracer` reads the trace of a request (W3C, B3, Jaeger, OpenTracing,
 * Datadog, AWS, GCP), decides whether it is sampled, and writes the headers for the backend.
 */

export { low64Bits } from './formats.ts';
export { traceHeaders } from './rules.ts';
export { newSpanId, newTraceId } from './trace-ids.ts';
export { type RequestTrace, Tracer } from './tracer.ts';
