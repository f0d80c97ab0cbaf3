import {
  compileLogFields,
  type LogSource,
  logLine,
  openDatagrams,
  type PluginPhases,
  type PluginTools,
} from '../../plugin-sdk/index.ts';
import type { UdpLogConfig } from './schema.ts';

export function logToDatagrams({ host, port, ...config }: UdpLogConfig, tools: PluginTools): PluginPhases {
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
