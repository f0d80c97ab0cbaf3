import { setImmediate as turn } from 'node:timers/promises';
import { DeliveryQueue, httpSender, type QueueSettings } from '../../plugin-kit/delivery/index.ts';
import { otlpSend, type Resource } from '../../plugin-kit/telemetry/otlp/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';

export interface ExporterOptions<T> {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly connectTimeout: number;
  readonly sendTimeout: number;
  readonly readTimeout: number;
  readonly queue: QueueSettings;
  readonly resource: Resource;
  /** Encodes an entry. Runs for a whole batch: code that runs for one request in a hundred finds cold CPU caches. */
  readonly encode: (entry: T) => Uint8Array;
  /** Builds the message from encoded entries. */
  readonly message: (resource: Resource, entries: readonly Uint8Array[]) => Uint8Array;
  /** Name of the entries: `spans`. */
  readonly what: string;
  readonly tools: Pick<PluginTools, 'log' | 'count' | 'settings'>;
}

/** Exports entries of one kind to one receiver. */
export interface Exporter<T> {
  /** `bytes`: approximate memory of the entry. */
  push(entry: T, bytes: number): void;
  /** The node ends. */
  drain(): Promise<void>;
  /** The configuration was replaced: pending entries are still delivered. */
  close(): void;
}

interface Waiting<T> {
  readonly entry: T;
  readonly bytes: number;
}

/** Entries that are encoded without a pause: about a millisecond. */
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
