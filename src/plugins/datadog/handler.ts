import { openDatagrams, queueLimits, queueSettings } from '../../plugin-kit/delivery/index.ts';
import {
  defaultPacketSize,
  LineGatherer,
  requestSample,
  streamSample,
} from '../../plugin-kit/telemetry/statsd/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { datadogLines } from './metric-lines.ts';
import type { DatadogConfig } from './schema.ts';

/** Sends lines for each request to the agent. No request waits for it; lines that cannot be sent are counted. */
export function exportToDatadog(config: DatadogConfig, tools: PluginTools): PluginPhases {
  const lines = datadogLines(config);
  const datagrams = openDatagrams({
    host: config.host ?? 'localhost',
    port: config.port ?? 8125,
    log: tools.log,
    count: (name, by) => tools.count(name, by),
  });
  const { maxBatchSize, delay } = queueLimits(queueSettings(config));
  const gatherer = new LineGatherer({
    packetSize: defaultPacketSize,
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
