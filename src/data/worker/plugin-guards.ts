import type { FromWorker, WorkerBoot } from '../../shared/messages/messages.ts';
import { guardProcess } from '../../shared/plugin-loader/guard-process.ts';
import { StrayFailures } from '../../shared/plugin-loader/stray-failures.ts';
import { workerCounters } from '../../shared/zones/counters.ts';
import { PluginMeters } from '../../shared/zones/plugin-meter.ts';
import { observeFailure } from '../plugin-runner/code-observer.ts';
import { WorkerLog } from './worker-log.ts';

/**
 * From now on, in this thread, an exception of a plugin outside of phases is logged, and does not close the connections of all clients;
 * and plugins cannot end the thread. An exception of the gateway itself still ends it.
 */
export function guardFromPlugins(boot: WorkerBoot, post: (message: FromWorker) => void): void {
  const log = new WorkerLog(boot.settings.logLevel, workerCounters(boot.zones, boot.worker), post);
  const strays = new StrayFailures({
    meters: new PluginMeters(boot.pluginMeter, boot.worker),
    log: (message, fields) => log.error(message, fields),
  });
  guardProcess({ refuse: 'all' });
  process.on('uncaughtException', (error) => {
    if (!strays.isOfPlugin(error) && !strays.isOfNobody(error)) throw error;
    observe(strays.report(error));
  });
  process.on('unhandledRejection', (reason) => {
    if (strays.isOfPlugin(reason)) observe(strays.report(reason));
    else log.error('unhandled rejection', { err: reason });
  });
}

function observe(plugin: string | null): void {
  if (plugin !== null) observeFailure(plugin);
}
