import {
  DeliveryQueue,
  openDatagrams,
  queueLimits,
  queueSettings,
  type TextBatch,
  TextQueueBuffer,
  textSender,
} from '../../plugin-kit/delivery/index.ts';
import { defaultPacketSize, LineGatherer } from '../../plugin-kit/telemetry/statsd/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import type { StatsdConfig } from './schema.ts';

/** Destination of lines. Its methods never wait and never throw. */
export interface LineTarget {
  add(line: string): void;
  /** Ends a group: the lines since the last call belong together. */
  endGroup(): void;
  drain(): Promise<void>;
  close(): void;
}

type TargetTools = Pick<PluginTools, 'log' | 'count'>;

/** Timeout of a connection, and of progress on it, in milliseconds. */
const connectionTimeout = 10_000;

export function openLineTarget(config: StatsdConfig, tools: TargetTools): LineTarget {
  return config.use_tcp === true ? tcpTarget(config, tools) : udpTarget(config, tools);
}

function placeOf(config: StatsdConfig) {
  return { host: config.host ?? 'localhost', port: config.port ?? 8125 };
}

function udpTarget(config: StatsdConfig, tools: TargetTools): LineTarget {
  const datagrams = openDatagrams({
    ...placeOf(config),
    log: tools.log,
    count: (name, by) => tools.count(name, by),
  });
  const { maxBatchSize, delay } = queueLimits(queueSettings(config));
  const gatherer = new LineGatherer({
    packetSize: Math.floor(config.udp_packet_size ?? 0) || defaultPacketSize,
    groups: maxBatchSize,
    delay,
    send: (packet) => datagrams.send(packet),
  });
  return {
    add: (line) => gatherer.add(line),
    endGroup: () => gatherer.endGroup(),
    drain() {
      gatherer.flush();
      return datagrams.drain();
    },
    close() {
      gatherer.flush();
      datagrams.close();
    },
  };
}

/** Entries of the queue are the lines of one request, each with a line feed at its end. */
function tcpTarget(config: StatsdConfig, tools: TargetTools): LineTarget {
  const sender = textSender({ to: placeOf(config), tls: null, timeout: connectionTimeout, keepalive: 0 });
  const queue = new DeliveryQueue<string, TextBatch>({
    settings: queueSettings(config),
    send: ({ bytes }, signal) => sender.send(bytes, signal),
    tools,
    what: 'metrics',
    buffer: new TextQueueBuffer(),
  });
  let group = '';
  return {
    add(line) {
      group += `${line}\n`;
    },
    endGroup() {
      if (group === '') return;
      queue.push(group);
      group = '';
    },
    drain: () => queue.drain(),
    close() {
      void queue.close().then(() => sender.close());
    },
  };
}
