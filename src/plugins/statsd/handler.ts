import { requestSample, streamSample, type TrafficSample } from '../../plugin-kit/telemetry/statsd/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { openLineTarget } from './line-target.ts';
import { requestLines } from './request-lines.ts';
import type { StatsdConfig } from './schema.ts';

/** Sends lines for each request to the server. No request waits for it; lines that cannot be sent are counted. */
export function exportToStatsd(config: StatsdConfig, tools: PluginTools): PluginPhases {
  const lines = requestLines(config, tools.node.hostname);
  const target = openLineTarget(config, tools);
  const add = (line: string): void => target.add(line);

  const send = (sample: TrafficSample, draw: number): void => {
    lines.write(sample, draw, add);
    target.endGroup();
  };

  return {
    log(context) {
      const draw = context.draw;
      if (draw < lines.share && lines.takes(context.response.status)) send(requestSample(context), draw);
    },
    streamLog(context) {
      if (lines.takes(context.measures.status)) send(streamSample(context), Math.random());
    },
    drain: () => target.drain(),
    dispose: () => target.close(),
  };
}
