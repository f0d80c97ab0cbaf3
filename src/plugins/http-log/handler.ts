import {
  DeliveryQueue,
  httpSender,
  queueSettings,
  type TextBatch,
  TextQueueBuffer,
} from '../../plugin-kit/delivery/index.ts';
import { compileLogFields, type LogSource, logLine } from '../../plugin-kit/telemetry/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import type { HttpLogConfig } from './schema.ts';

/** Kong's defaults for null fields. */
const defaults = { method: 'POST', contentType: 'application/json', timeout: 10_000, keepalive: 60_000 } as const;

export function logToHttp(config: HttpLogConfig, tools: PluginTools): PluginPhases {
  const { http_endpoint, headers, timeout, keepalive, method, content_type } = config;
  const fields = compileLogFields(config, tools);
  const each = timeout ?? defaults.timeout;
  const sender = httpSender({
    url: http_endpoint,
    method: method ?? defaults.method,
    headers: headers ?? {},
    connectTimeout: each,
    sendTimeout: each,
    readTimeout: each,
    keepalive: keepalive ?? defaults.keepalive,
    trustedCertificates: tools.settings.trustedCertificates,
  });
  const contentType = content_type ?? defaults.contentType;
  const settings = queueSettings(config);
  const isList = (settings.max_batch_size ?? 1) > 1;
  const queue = new DeliveryQueue<string, TextBatch>({
    settings,
    tools,
    what: 'log records',
    buffer: new TextQueueBuffer(isList ? { before: '[', between: ',', after: ']' } : {}),
    async send({ bytes }, signal) {
      const status = await sender.send(bytes, contentType, signal);
      // As in Kong: a redirect is not followed, and counts as a failure.
      if (status >= 300) throw new Error(`${sender.receiver} answered with status ${status}`);
    },
  });
  const take = (context: LogSource): void => {
    const line = logLine(context, fields);
    if (line !== null) queue.push(line);
  };
  return {
    log: take,
    streamLog: take,
    drain: () => queue.drain(),
    dispose() {
      void queue.close().then(() => sender.close());
    },
  };
}
