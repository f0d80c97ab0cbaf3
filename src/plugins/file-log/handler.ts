import { openLineFile } from '../../plugin-kit/delivery/index.ts';
import { compileLogFields, type LogSource, logLine } from '../../plugin-kit/telemetry/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import type { FileLogConfig } from './schema.ts';

export function logToFile(config: FileLogConfig, tools: PluginTools): PluginPhases {
  const fields = compileLogFields(config, tools);
  const file = openLineFile({ path: config.path, followsMoves: config.reopen, tools });
  const write = (context: LogSource): void => {
    const line = logLine(context, fields);
    if (line !== null) file.write(line);
  };
  return {
    log: write,
    streamLog: write,
    drain: () => file.flush(),
    dispose: () => file.close(),
  };
}
