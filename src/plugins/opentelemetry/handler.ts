import { queueSettings } from '../../plugin-kit/delivery/index.ts';
import { compileLogFields, logLine } from '../../plugin-kit/telemetry/index.ts';
import {
  encodeLogLine,
  encodeSpan,
  logsRequest,
  resourceOf,
  type Span,
  tracesRequest,
} from '../../plugin-kit/telemetry/otlp/index.ts';
import { Tracer } from '../../plugin-kit/telemetry/propagation/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { type Exporter, openExporter } from './exporter.ts';
import { logLineOf } from './log-lines.ts';
import { recordDurations } from './metrics/record-durations.ts';
import type { OpentelemetryConfig } from './schema.ts';
import { spansOf } from './spans.ts';

export function exportTelemetry(config: OpentelemetryConfig, tools: PluginTools): PluginPhases {
  const durations = recordDurations(config, tools);
  const requests: PluginPhases =
    config.traces_endpoint === null && config.logs_endpoint === null ? {} : exportRequests(config, tools);
  const { log } = requests;
  if (durations === null) return requests;
  if (log === undefined) return { log: durations };
  return {
    ...requests,
    log(context) {
      durations(context);
      log(context);
    },
  };
}

/** Spans and log records. */
function exportRequests(config: OpentelemetryConfig, tools: PluginTools): PluginPhases {
  const { instrumentations, samplingRate } = tools.settings.tracing;
  const { traces, logs } = exporters(config, tools);
  const tracer = new Tracer({
    settings: config,
    rate: config.sampling_rate ?? samplingRate,
    strategy: config.sampling_strategy,
    enabled: traces !== null && instrumentations.size > 0,
    attempts: instrumentations.has('balancer'),
    short: false,
    responseHeader: config.http_response_header_for_traceid,
    keepsIds: logs !== null,
  });
  const fields = compileLogFields({}, tools);

  const phases: PluginPhases = {
    access(context) {
      tracer.access(context);
      return undefined;
    },
    log(context) {
      const trace = tracer.sampled(context);
      if (trace !== null && traces !== null) {
        // Attributes of spans are slices of the request's head, which they keep in memory.
        let kept = context.request.block().length;
        for (const span of spansOf(context, trace, instrumentations)) {
          traces.push(span, kept + spanBytes);
          kept = 0;
        }
      }
      if (logs === null) return;
      const ids = tracer.traced(context);
      const line = logLine(context, fields);
      if (line === null) return;
      const encoded = encodeLogLine(logLineOf(context, ids, line));
      logs.push(encoded, encoded.byteLength);
    },
    async drain() {
      await Promise.all([traces?.drain(), logs?.drain()]);
    },
    dispose() {
      traces?.close();
      logs?.close();
    },
  };
  if (config.http_response_header_for_traceid !== null) {
    phases.headerFilter = (context) => tracer.headerFilter(context);
  }
  return phases;
}

function exporters(
  config: OpentelemetryConfig,
  tools: PluginTools,
): { readonly traces: Exporter<Span> | null; readonly logs: Exporter<Uint8Array> | null } {
  const { traces_endpoint: tracesUrl, logs_endpoint: logsUrl } = config;
  const options = {
    headers: config.headers,
    connectTimeout: config.connect_timeout ?? 1000,
    sendTimeout: config.send_timeout ?? 5000,
    readTimeout: config.read_timeout ?? 5000,
    queue: queueSettings({
      queue: config.queue,
      queue_size: config.batch_span_count,
      flush_timeout: config.batch_flush_delay,
    }),
    resource: resourceOf(tools.node, config.resource_attributes),
    tools,
  };
  const traces =
    tracesUrl === null
      ? null
      : openExporter({ ...options, url: tracesUrl, encode: encodeSpan, message: tracesRequest, what: 'spans' });
  // Every request has a line, so lines are encoded at once; `bytes` is their exact size.
  const logs =
    logsUrl === null
      ? null
      : openExporter({ ...options, url: logsUrl, encode: unchanged, message: logsRequest, what: 'log records' });
  return { traces, logs };
}

/** Memory of a span in addition to the request's head. */
const spanBytes = 1000;

function unchanged(encoded: Uint8Array): Uint8Array {
  return encoded;
}
