import { openDatagrams } from '../../plugin-sdk/datagrams.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { queueLimits, queueSettings } from '../../plugin-sdk/queue-settings.ts';
import { LineGatherer, usualPacketSize } from '../../plugin-sdk/statsd/line-gatherer.ts';
import { requestSample, streamSample } from '../../plugin-sdk/statsd/traffic-sample.ts';
import { datadogLines } from './metrics.ts';
import type { DatadogConfig } from './schema.ts';

/** Sends the agent some lines for each request. Nothing waits for it, and what cannot be sent is counted. */
export function tellDatadog(config: DatadogConfig, tools: PluginTools): PluginPhases {
  const lines = datadogLines(config);
  const datagrams = openDatagrams({
    host: config.host ?? 'localhost',
    port: config.port ?? 8125,
    log: tools.log,
    count: (name, by) => tools.count(name, by),
  });
  const { maxBatchSize, delay } = queueLimits(queueSettings(config));
  const gatherer = new LineGatherer({
    packetSize: usualPacketSize,
    groups: maxBatchSize,
    delay,
    send: (packet) => datagrams.send(packet),
  });
  const add = (line: string): void => gatherer.add(line);

  return {
    log(context) {
      const draw = context.draw;
      if (draw >= lines.share) return;
      lines.write(requestSample(context), draw, add);
      gatherer.endGroup();
    },
    streamLog(context) {
      lines.write(streamSample(context), Math.random(), add);
      gatherer.endGroup();
    },
    drain() {
      gatherer.flush();
      return datagrams.drain();
    },
    dispose() {
      gatherer.flush();
      datagrams.close();
    },
  };
}
