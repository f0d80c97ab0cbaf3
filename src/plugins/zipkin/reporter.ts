import { DeliveryQueue, DeliveryRefused, httpSender } from '../../plugin-kit/delivery/index.ts';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import type { ZipkinConfig } from './schema.ts';
import type { ZipkinSpan } from './zipkin-span.ts';

/** Sends the spans of requests. An entry is the spans of one request, as texts of JSON joined by commas. */
export interface Reporter {
  push(spans: readonly ZipkinSpan[]): void;
  drain(): Promise<void>;
  close(): void;
}

export function openReporter(url: string, config: ZipkinConfig, tools: PluginTools): Reporter {
  const sender = httpSender({
    url,
    connectTimeout: Math.max(1, config.connect_timeout),
    sendTimeout: Math.max(1, config.send_timeout),
    readTimeout: Math.max(1, config.read_timeout),
    trustedCertificates: tools.settings.trustedCertificates,
  });
  const queue = new DeliveryQueue<string>({
    settings: config.queue,
    async send(batch, signal) {
      const status = await sender.send(`[${batch.join(',')}]`, 'application/json', signal);
      if (status >= 200 && status < 300) return;
      const reason = `${sender.receiver} answered with status ${status}`;
      throw status < 500 && status !== 408 && status !== 429 ? new DeliveryRefused(reason) : new Error(reason);
    },
    tools,
    what: 'spans',
  });
  return {
    push: (spans) => queue.push(spans.map((span) => JSON.stringify(span)).join(',')),
    drain: () => queue.drain(),
    close: () => void queue.close().then(() => sender.close()),
  };
}
