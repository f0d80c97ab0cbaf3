/**
 * Log records: `sluicegate/plugin-kit/telemetry`. `compileLogFields` applies `custom_fields_by_lua`, `logLine` makes the JSON line
 * of a request or stream. Spans, metrics and log lines of OTLP are in `telemetry/otlp`, trace headers in
 * `telemetry/propagation`, StatsD in `telemetry/statsd`.
 */

export {
  compileLogFields,
  type LogFields,
  type LogFieldsConfig,
  type LogSource,
  logLine,
} from './log-fields/log-fields.ts';
