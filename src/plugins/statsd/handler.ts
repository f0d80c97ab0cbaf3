import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { requestSample, streamSample, type TrafficSample } from '../../plugin-sdk/statsd/traffic-sample.ts';
import { openLineTarget } from './line-target.ts';
import { requestLines } from './request-lines.ts';
import type { StatsdConfig } from './schema.ts';

/** Sends the server some lines for each request. Nothing waits for it, and what cannot be sent is counted. */
export function tellStatsd(config: StatsdConfig, tools: PluginTools): PluginPhases {
  const lines = requestLines(config, tools.node.hostname);
  const target = openLineTarget(config, tools);
  const add = (line: string): void => target.add(line);

  const tell = (sample: TrafficSample, draw: number): void => {
    lines.write(sample, draw, add);
    target.endGroup();
  };

  return {
    log(context) {
      const draw = context.draw;
      if (draw < lines.share && lines.takes(context.response.status)) tell(requestSample(context), draw);
    },
    streamLog(context) {
      if (lines.takes(context.measures.status)) tell(streamSample(context), Math.random());
    },
    drain: () => target.drain(),
    dispose: () => target.close(),
  };
}
