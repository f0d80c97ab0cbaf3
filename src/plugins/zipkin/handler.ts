import { Tracer } from '../../plugin-kit/telemetry/propagation/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { openReporter } from './reporter.ts';
import type { ZipkinConfig } from './schema.ts';
import { type SpanMaker, spansOf } from './spans.ts';
import { streamSpans } from './stream-spans.ts';

export function exportToZipkin(config: ZipkinConfig, tools: PluginTools): PluginPhases {
  const rate = config.sample_ratio ?? 0.001;
  const reporter = config.http_endpoint === null ? null : openReporter(config.http_endpoint, config, tools);
  const maker: SpanMaker = {
    config,
    nodeId: tools.node.id,
    staticTags: Object.fromEntries((config.static_tags ?? []).map(({ name, value }) => [name, value])),
  };
  const tracer = new Tracer({
    settings: config,
    rate,
    strategy: 'parent_probability_fallback',
    enabled: reporter !== null,
    attempts: true,
    short: config.traceid_byte_count === 8,
    responseHeader: config.http_response_header_for_traceid,
    keepsIds: false,
  });

  const phases: PluginPhases = {
    access(context) {
      tracer.access(context);
      return undefined;
    },
    log(context) {
      const trace = tracer.sampled(context);
      if (trace !== null) reporter?.push(spansOf(maker, context, trace));
    },
    streamLog(context) {
      if (reporter !== null && Math.random() < rate) reporter.push(streamSpans(maker, context));
    },
    drain: async () => reporter?.drain(),
    dispose: () => reporter?.close(),
  };
  if (config.http_response_header_for_traceid !== null) {
    phases.headerFilter = (context) => tracer.headerFilter(context);
  }
  return phases;
}
