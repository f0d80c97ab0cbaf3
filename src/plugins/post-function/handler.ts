import { type FunctionConfig, functionPhases } from '../../plugin-kit/functions/index.ts';
import type { PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';

export function runPostFunctions(config: FunctionConfig, tools: PluginTools): PluginPhases {
  return functionPhases('post-function', config, tools);
}
