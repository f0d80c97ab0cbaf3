/**
 * How a node is put together. Each stage has the parts of the stage before it and its own; none of them may be absent.
 *
 *   createNodeCore   NodeCore         shared memory, supervisor, shutdown; nothing runs
 *         |
 *   openNode         OpenedNode       workers load their code; logs
 *         |
 *   configureNode    ConfiguredNode   store, names and addresses, health checks, publisher, background tasks
 *         |
 *   loadConfig                        workers have their config, and listen; a data plane without any config waits for one
 *         |
 *   listenNode       ListeningNode    the listener for data planes, the Admin API, the status API
 *
 * The order is made for speed: workers load their code while the store is opened, the config is sent as soon as it is read, and only
 * the Admin API waits for the modules of the Admin API. `NodeShutdown` stops a node at any stage, and in the middle of one.
 */
import { flushCompileCache } from 'node:module';
import { collectWhenIdle } from '../shared/util/process/collect-when-idle.ts';
import { Counter, sumCounter } from '../shared/zones/counters.ts';
import { NodeVitals } from '../shared/zones/worker-vitals.ts';
import type { FirstConfig } from './config/load-config.ts';
import { makeCurrent } from './config/make-current.ts';
import type { ConfiguredNode } from './configure-node.ts';
import type { ListeningNode, NodeListeners } from './listen-node.ts';
import type { NodeCore } from './node-core.ts';
import { openNode } from './open-node.ts';
import { addReloadSteps } from './reload/node-reload-steps.ts';

/** Rejects when a stage fails; the caller then stops the node by its `shutdown`. `warnings` about the settings are logged. */
export async function startNode(core: NodeCore, warnings: readonly string[]): Promise<ListeningNode> {
  const opened = await openNode(core, warnings);
  const { configureNode } = await import('./configure-node.ts');
  const configuring = configureNode(opened);
  const [{ first, listeners }] = await Promise.all([configuring.then(loadConfig), core.supervisor.ready()]);
  const configured = await configuring;
  await makeCurrent(configured, first);
  const { listenNode } = await import('./listen-node.ts');
  const listening = await listenNode(configured, listeners);
  rotateTicketKeys(listening);
  addReloadSteps(listening);
  flushCompileCache();
  if (core.options.ownsProcess) {
    // Somebody waits for the control plane to load a save.
    if (core.options.development === undefined) await core.priority.lower();
    collectWhenIdle(() => sumCounter(core.memory.counters, Counter.requests));
  }
  return listening;
}

/** `listeners`: those that had to be started before; null: none. */
async function loadConfig(node: ConfiguredNode): Promise<{ first: FirstConfig; listeners: NodeListeners | null }> {
  const vitals = new NodeVitals(node.memory.vitals);
  let listeners: NodeListeners | null = null;
  const first = await node.loadConfig(async (isWaiting) => {
    vitals.withoutConfig = isWaiting;
    // The status listeners of a process that this one replaces are still in use, and say that the node is ready.
    if (!isWaiting || node.options.predecessor !== null || listeners !== null) return;
    const { NodeListeners: Listeners } = await import('./listen-node.ts');
    listeners = new Listeners(node);
    await listeners.startStatus();
  });
  return { first, listeners };
}

function rotateTicketKeys({ options, ticketKeys, supervisor, shutdown }: ListeningNode): void {
  ticketKeys.rotate(options.settings.tlsPolicy.sessionTimeout, (keys) =>
    supervisor.broadcast({ type: 'ticket-keys', keys }),
  );
  shutdown.add('the control plane', () => ticketKeys.stop());
}
