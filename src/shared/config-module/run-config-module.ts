// The process in which a config module runs: its argument is the file, its message the config.
import { pathToFileURL } from 'node:url';
import type { GatewayConfigSource } from '../gateway-config/gateway-config.ts';
import { ConfigValueError, resolveConfig } from '../gateway-config/resolve-config.ts';
import { loadProblem } from '../plugin-loader/load-problem.ts';
import { resolveContractImports } from '../plugin-loader/resolve-contract.ts';

export type ConfigModuleAnswer =
  | { readonly config: Readonly<Record<string, unknown>> }
  /** One line. */
  | { readonly problem: string };

async function answerFor(file: string): Promise<ConfigModuleAnswer> {
  try {
    resolveContractImports();
    const { default: source } = (await import(pathToFileURL(file).href)) as { readonly default?: GatewayConfigSource };
    if (source === undefined)
      return { problem: 'it has no default export: write `export default defineConfig({ ... })`' };
    return { config: await resolveConfig(source) };
  } catch (error) {
    // Its stack is that of the gateway.
    return { problem: error instanceof ConfigValueError ? error.message : loadProblem(error, file) };
  }
}

const answer = await answerFor(process.argv[2] ?? '');
process.send?.(answer);
