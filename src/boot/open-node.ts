import { announcePlugins } from '../control/plugin-reload/announce-plugins.ts';
import { guardProcess } from '../shared/plugin-loader/guard-process.ts';
import { StrayFailures } from '../shared/plugin-loader/stray-failures.ts';
import { controlPlaneMeters } from '../shared/zones/plugin-meter.ts';
import type { NodeCore } from './node-core.ts';
import { DescriptorWatch } from './observability/descriptor-watch.ts';
import type { NodeLogs } from './observability/node-logs.ts';

/** The logs are open, and the workers load their code. */
export interface OpenedNode extends NodeCore {
  readonly logs: NodeLogs;
  readonly descriptors: DescriptorWatch;
}

/** Rejects when a log cannot be opened, or the code of a plugin cannot be loaded. `warnings` about the settings are logged. */
export async function openNode(node: NodeCore, warnings: readonly string[]): Promise<OpenedNode> {
  const { options, supervisor, workerReports, shutdown, pluginCode } = node;
  const { application, development } = options;
  // An application has no thread in which code could be tried first: it is loaded where it runs.
  if (application === null) await pluginCode.begin();
  // The workers load their code meanwhile.
  supervisor.start();
  // Imported while the workers start, not before.
  const { openNodeLogs } = await import('./observability/node-logs.ts');
  const logs = openNodeLogs(options.settings, application?.log ?? development?.log ?? null);
  shutdown.logTo(logs);
  options.supply?.logTo(logs.node);
  workerReports.logTo(logs);
  for (const warning of warnings) logs.node.warn(warning);
  if (pluginCode.plugins.length > 0) announcePlugins(logs.node, pluginCode.plugins);
  const descriptors = new DescriptorWatch(logs.node);
  // How many an application may open is its own concern.
  if (application === null) descriptors.start(options.settings);
  shutdown.add('the control plane', () => descriptors.stop());
  if (options.ownsProcess) {
    guardProcess({ refuse: 'plugins' });
    logUncaughtExceptions(logs, node.memory.pluginMeter, shutdown.begun);
  }
  return { ...node, logs, descriptors };
}

/** Opens the log files of the node and of its workers again, after they were moved away. */
export function reopenLogs({ logs, supervisor }: OpenedNode): void {
  logs.reopen();
  supervisor.broadcast({ type: 'reopen-logs' });
}

/** The workers carry traffic: an exception in the control plane must not end their process. */
function logUncaughtExceptions(logs: NodeLogs, pluginMeter: SharedArrayBuffer, stopping: AbortSignal): void {
  const strays = new StrayFailures({
    meters: controlPlaneMeters(pluginMeter),
    log: (message, fields) => logs.node.error(message, fields),
  });
  const log = (error: unknown): void => {
    if (strays.isOfPlugin(error)) strays.report(error);
    else logs.node.crit('uncaught exception in the control plane; continuing', { err: error });
  };
  process.on('uncaughtException', log);
  process.on('unhandledRejection', log);
  stopping.addEventListener('abort', () => {
    process.off('uncaughtException', log);
    process.off('unhandledRejection', log);
  });
}
