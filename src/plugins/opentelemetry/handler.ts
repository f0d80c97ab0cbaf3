import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { compileLogFields, logLine } from '../../plugin-sdk/log-fields.ts';
import { resourceOf } from '../../plugin-sdk/otlp/attributes.ts';
import { encodeLogLine, logsRequest } from '../../plugin-sdk/otlp/logs.ts';
import { encodeSpan, type Span, tracesRequest } from '../../plugin-sdk/otlp/spans.ts';
import { Tracer } from '../../plugin-sdk/propagation/tracer.ts';
import { queueSettings } from '../../plugin-sdk/queue.ts';
import { type Exporter, openExporter } from './exporter.ts';
import { logLineOf } from './log-lines.ts';
import { recordDurations } from './metrics/record-durations.ts';
import type { OpentelemetryConfig } from './schema.ts';
import { spansOf } from './spans.ts';

export function exportTelemetry(config: OpentelemetryConfig, tools: PluginTools): PluginPhases {
  const durations = recordDurations(config, tools);
  const telling: PluginPhases =
    config.traces_endpoint === null && config.logs_endpoint === null ? {} : tellOfRequests(config, tools);
  const { log } = telling;
  if (durations === null) return telling;
  if (log === undefined) return { log: durations };
  return {
    ...telling,
    log(context) {
      durations(context);
      log(context);
    },
  };
}

/** Spans and log records. */
function tellOfRequests(config: OpentelemetryConfig, tools: PluginTools): PluginPhases {
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
        // What spans tell of the request are parts of its head, which is kept as long as they are.
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
  // Of each request there is a line, so nothing is gained by waiting; and its bytes are what it takes.
  const logs =
    logsUrl === null
      ? null
      : openExporter({ ...options, url: logsUrl, encode: unchanged, message: logsRequest, what: 'log records' });
  return { traces, logs };
}

/** What a span keeps in memory beside the request's head. */
const spanBytes = 1000;

function unchanged(encoded: Uint8Array): Uint8Array {
  return encoded;
}
