import { setImmediate as turn } from 'node:timers/promises';
import { httpSender } from '../../plugin-sdk/http-sender.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import type { Resource } from '../../plugin-sdk/otlp/attributes.ts';
import { otlpSend } from '../../plugin-sdk/otlp/deliver.ts';
import { DeliveryQueue, type QueueSettings } from '../../plugin-sdk/queue.ts';

export interface ExporterOptions<T> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly connectTimeout: number;
  readonly sendTimeout: number;
  readonly readTimeout: number;
  readonly queue: QueueSettings;
  readonly resource: Resource;
  /** Makes bytes of an entry. Done for a whole batch at a time: what is done for one request in a hundred finds no cache warm. */
  readonly encode: (entry: T) => Uint8Array;
  /** Makes the message of entries that have been encoded. */
  readonly message: (resource: Resource, entries: readonly Uint8Array[]) => Uint8Array;
  /** What the entries are: `spans`. */
  readonly what: string;
  readonly tools: Pick<PluginTools, 'log' | 'count' | 'settings'>;
}

/** A way to one receiver for entries of one kind. */
export interface Exporter<T> {
  /** `bytes`: what the entry keeps in memory, about. */
  push(entry: T, bytes: number): void;
  /** The node ends. */
  drain(): Promise<void>;
  /** The configuration was replaced: what is there is delivered yet. */
  close(): void;
}

interface Waiting<T> {
  readonly entry: T;
  readonly bytes: number;
}

/** Entries that are encoded without a break: about a millisecond. */
const atOnce = 200;

export function openExporter<T>(options: ExporterOptions<T>): Exporter<T> {
  const { url, headers, queue: settings, resource, encode, message, what, tools } = options;
  const sender = httpSender({
    url,
    headers: headers ?? {},
    connectTimeout: Math.max(1, options.connectTimeout),
    sendTimeout: Math.max(1, options.sendTimeout),
    readTimeout: Math.max(1, options.readTimeout),
    trustedCertificates: tools.settings.trustedCertificates,
  });
  const send = otlpSend(sender, tools);
  const queue = new DeliveryQueue<Waiting<T>>({
    settings,
    size: ({ bytes }) => bytes,
    async send(batch, signal) {
      const encoded: Uint8Array[] = [];
      for (const { entry } of batch) {
        if (encoded.length > 0 && encoded.length % atOnce === 0) await turn();
        encoded.push(encode(entry));
      }
      await send(message(resource, encoded), batch.length, signal);
    },
    tools,
    what,
  });
  return {
    push: (entry, bytes) => queue.push({ entry, bytes }),
    drain: () => queue.drain(),
    close: () => void queue.close().then(() => sender.close()),
  };
}
