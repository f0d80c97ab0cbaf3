import { openDatagrams } from '../../plugin-kit/delivery/index.ts';
import { compileLogFields, type LogSource, logLine } from '../../plugin-kit/telemetry/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import type { UdpLogConfig } from './schema.ts';

export function logToUdp({ host, port, ...config }: UdpLogConfig, tools: PluginTools): PluginPhases {
  const fields = compileLogFields(config, tools);
  const datagrams = openDatagrams({ host, port, log: tools.log, count: tools.count });
  const send = (context: LogSource): void => {
    const line = logLine(context, fields);
    if (line !== null) datagrams.send(line);
  };
  return {
    log: send,
    streamLog: send,
    drain: () => datagrams.drain(),
    dispose: () => datagrams.close(),
  };
}
