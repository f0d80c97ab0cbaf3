import { DeliveryQueue, openDatagrams, textSender } from '../../plugin-kit/delivery/index.ts';
import { compileLogFields, type LogSource, logLine } from '../../plugin-kit/telemetry/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import { severities } from './codes.ts';
import { localDaemon } from './local-daemon.ts';
import type { SyslogEntry, SyslogSender } from './message.ts';
import { cutText, formatFrame, formatMessage, overheadOf, syslogHostname } from './message.ts';
import type { Receiver } from './receiver.ts';
import type { SyslogConfig } from './schema.ts';

/** Destination of entries. */
interface Way {
  take(entry: SyslogEntry): void;
  drain(): Promise<void>;
  close(): void;
}

export function logToSyslog(config: SyslogConfig, tools: PluginTools): PluginPhases {
  const fields = compileLogFields(config, tools);
  const severityOf = severityRule(config);
  const leastSevere = severities[config.log_level];
  const { hostname, pid } = tools.node;
  const from = { facility: config.facility, hostname: syslogHostname(hostname), pid };
  const room = config.max_size - overheadOf(from);
  const way = openWay(config, from, tools);
  const take = (context: LogSource): void => {
    const severity = severityOf('response' in context ? context.response.status : context.measures.status);
    if (severity > leastSevere) return;
    const line = logLine(context, fields);
    if (line === null) return;
    const text = cutText(line, room);
    if (text !== line) tools.count('messages_cut');
    way.take({ severity, time: Date.now(), text });
  };
  return { log: take, streamLog: take, drain: () => way.drain(), dispose: () => way.close() };
}

function severityRule(config: SyslogConfig): (status: number) => number {
  const successful = severities[config.successful_severity];
  const clientErrors = severities[config.client_errors_severity];
  const serverErrors = severities[config.server_errors_severity];
  return (status) => {
    if (status >= 500) return serverErrors;
    return status >= 400 ? clientErrors : successful;
  };
}

function openWay(config: SyslogConfig, from: SyslogSender, tools: PluginTools): Way {
  const { protocol, host, port, socket_path } = config;
  if (protocol === 'udp') return datagramWay(host, port, from, tools);
  const { trustedCertificates } = tools.settings;
  const receiver =
    protocol === 'local'
      ? localDaemon(socket_path, from)
      : remoteDaemon(
          textSender({
            to: { host, port },
            tls: protocol === 'tls' ? { serverName: null, verify: true, trustedCertificates } : null,
            timeout: 10_000,
            keepalive: 60_000,
          }),
          from,
        );
  const queue = new DeliveryQueue<SyslogEntry>({
    settings: config.queue,
    send: (batch, signal) => receiver.send(batch, signal),
    size: ({ text }) => Buffer.byteLength(text),
    tools,
    what: 'log records',
  });
  return {
    take: (entry) => queue.push(entry),
    drain: () => queue.drain(),
    close: () => void queue.close().then(() => receiver.close()),
  };
}

function datagramWay(host: string, port: number, from: SyslogSender, { log, count }: PluginTools): Way {
  const datagrams = openDatagrams({ host, port, log, count });
  return {
    take: (entry) => datagrams.send(formatMessage(entry, from)),
    drain: () => datagrams.drain(),
    close: () => datagrams.close(),
  };
}

function remoteDaemon(sender: ReturnType<typeof textSender>, from: SyslogSender): Receiver {
  return {
    send: (batch, signal) => sender.send(batch.map((entry) => formatFrame(entry, from)).join(''), signal),
    close: () => sender.close(),
  };
}
