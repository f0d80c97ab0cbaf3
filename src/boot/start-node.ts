/**
 * How a node is put together. Each stage has the parts of the stage before it and its own; none of them may be absent.
 *
 *   createNodeCore   NodeCore         shared memory, supervisor, shutdown; nothing runs
 *         |
 *   openNode         OpenedNode       workers load their code; logs
 *         |
 *   configureNode    ConfiguredNode   store, names and addresses, health checks, publisher, background tasks; workers have their config
 *         |
 *   listenNode       ListeningNode    workers listen, then the Admin API and the status API
 *
 * The order is made for speed: workers load their code while the store is opened, the config is sent as soon as it is read, and only
 * the Admin API waits for the modules of the Admin API. `NodeShutdown` stops a node at any stage, and in the middle of one.
 */
import { flushCompileCache } from 'node:module';
import { collectWhenIdle } from '../shared/util/process/collect-when-idle.ts';
import { Counter, sumCounter } from '../shared/zones/counters.ts';
import type { ListeningNode } from './listen-node.ts';
import type { NodeCore } from './node-core.ts';
import { openNode } from './open-node.ts';
import { addReloadSteps } from './reload/node-reload-steps.ts';

/** Rejects when a stage fails; the caller then stops the node by its `shutdown`. `warnings` about the settings are logged. */
export async function startNode(core: NodeCore, warnings: readonly string[]): Promise<ListeningNode> {
  const opened = await openNode(core, warnings);
  const { configureNode } = await import('./configure-node.ts');
  const [configured] = await Promise.all([configureNode(opened), core.supervisor.ready()]);
  const { listenNode } = await import('./listen-node.ts');
  const listening = await listenNode(configured);
  rotateTicketKeys(listening);
  addReloadSteps(listening);
  flushCompileCache();
  if (core.options.ownsProcess) {
    await core.priority.lower();
    collectWhenIdle(() => sumCounter(core.memory.counters, Counter.requests));
  }
  return listening;
}

function rotateTicketKeys({ options, ticketKeys, supervisor, shutdown }: ListeningNode): void {
  ticketKeys.rotate(options.settings.tlsPolicy.sessionTimeout, (keys) =>
    supervisor.broadcast({ type: 'ticket-keys', keys }),
  );
  shutdown.add('the control plane', () => ticketKeys.stop());
}
