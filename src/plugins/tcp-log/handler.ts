import { DeliveryQueue, type TextBatch, TextQueueBuffer, textSender } from '../../plugin-kit/delivery/index.ts';
import { compileLogFields, type LogSource, logLine } from '../../plugin-kit/telemetry/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import type { TcpLogConfig } from './schema.ts';

export function logToTcp(config: TcpLogConfig, tools: PluginTools): PluginPhases {
  const { host, port, timeout, keepalive, tls, tls_sni, tls_verify } = config;
  const { trustedCertificates } = tools.settings;
  const fields = compileLogFields(config, tools);
  const sender = textSender({
    to: { host, port },
    tls: tls ? { serverName: tls_sni, verify: tls_verify, trustedCertificates } : null,
    timeout: timeout ?? 10_000,
    keepalive: keepalive ?? 60_000,
  });
  const queue = new DeliveryQueue<string, TextBatch>({
    settings: config.queue,
    send: ({ bytes }, signal) => sender.send(bytes, signal),
    tools,
    what: 'log records',
    buffer: new TextQueueBuffer({ between: '\n', after: '\n' }),
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
