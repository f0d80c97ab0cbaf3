/**
 * OTLP over HTTP: `sluicegate/plugin-kit/telemetry/otlp`. Encodes spans, metrics and log lines as protobuf, and reads the responses
 * of a collector.
 */

export { otlpAnswer } from './answer.ts';
export { type Attributes, type Resource, resourceOf } from './attributes.ts';
export { otlpSend } from './deliver.ts';
export { encodeLogLine, type LogLine, logsRequest } from './logs.ts';
export { type EncodedFamily, encodePoint, metricsRequest, type OtlpFamily, pointTimes } from './metrics.ts';
export { encodeSpan, type Span, tracesRequest } from './spans.ts';
