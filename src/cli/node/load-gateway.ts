import { enableCompileCache } from 'node:module';
import { compileCacheOf } from '../../boot/process/compile-cache.ts';
import { WorkerThreads } from '../../control/supervisor/worker-threads.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import { setEngineFlags } from '../../shared/util/process/engine-flags.ts';
import type { GatewayModule } from '../command.ts';

/** Loads the code of the gateway, while threads of its workers load theirs. The prefix exists. */
export async function loadGateway(settings: Settings): Promise<GatewayModule> {
  setEngineFlags();
  const compileCache = compileCacheOf(settings);
  enableCompileCache(compileCache);
  const threads = new WorkerThreads(settings, compileCache);
  const { startGateway } = await import('../../gateway.ts');
  return { startGateway: (used, warnings, options) => startGateway(used, warnings, { ...options, threads }) };
}
