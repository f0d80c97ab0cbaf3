import { httpSender } from '../../plugin-sdk/http-sender.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import type { Resource } from '../../plugin-sdk/otlp/attributes.ts';
import { otlpSend } from '../../plugin-sdk/otlp/deliver.ts';
import { DeliveryQueue, type QueueSettings } from '../../plugin-sdk/queue.ts';

export interface ExporterOptions {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>> | null;
  readonly connectTimeout: number;
  readonly sendTimeout: number;
  readonly readTimeout: number;
  readonly queue: QueueSettings;
  readonly resource: Resource;
  /** Makes the message of entries that have been encoded. */
  readonly message: (resource: Resource, entries: readonly Uint8Array[]) => Uint8Array;
  /** What the entries are: `spans`. */
  readonly what: string;
  readonly tools: Pick<PluginTools, 'log' | 'count' | 'settings'>;
}

/** A way to one receiver for entries of one kind. */
export interface Exporter {
  push(entry: Uint8Array): void;
  /** The node ends. */
  drain(): Promise<void>;
  /** The configuration was replaced: what is there is delivered yet. */
  close(): void;
}

export function openExporter(options: ExporterOptions): Exporter {
  const { url, headers, queue: settings, resource, message, what, tools } = options;
  const sender = httpSender({
    url,
    headers: headers ?? {},
    connectTimeout: Math.max(1, options.connectTimeout),
    sendTimeout: Math.max(1, options.sendTimeout),
    readTimeout: Math.max(1, options.readTimeout),
    trustedCertificates: tools.settings.trustedCertificates,
  });
  const send = otlpSend(sender, tools);
  const queue = new DeliveryQueue<Uint8Array>({
    settings,
    send: (batch, signal) => send(message(resource, batch), batch.length, signal),
    tools,
    what,
  });
  return {
    push: (entry) => queue.push(entry),
    drain: () => queue.drain(),
    close: () => void queue.close().then(() => sender.close()),
  };
}
