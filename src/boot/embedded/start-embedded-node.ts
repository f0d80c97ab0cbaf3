import type { RunningListener } from '../../control/admin/contract.ts';
import type { ConfigLoader } from '../../control/declarative/db-less/config-loader.ts';
import type { ConfiguredNode } from '../configure-node.ts';
import { configureNode } from '../configure-node.ts';
import type { NodeCore } from '../node-core.ts';
import { openNode } from '../open-node.ts';

/** A node in an application, without a config. */
export interface EmbeddedNode extends ConfiguredNode {
  readonly loader: ConfigLoader;
  /** Of the Admin API; empty without one. */
  readonly adminAddresses: readonly { readonly host: string; readonly port: number }[];
}

/**
 * The stages of `startNode` for a node in an application: the listeners of the main thread are started only where the settings have
 * addresses for them, and nothing of the process is changed. Rejects when a stage fails; the caller then stops the node by its `shutdown`.
 */
export async function startEmbeddedNode(core: NodeCore, warnings: readonly string[]): Promise<EmbeddedNode> {
  const node = await configureNode(await openNode(core, warnings));
  const { declarative, ticketKeys, supervisor, shutdown } = node;
  if (declarative === null) throw new TypeError('a node in an application has no database');
  await Promise.all([node.loadConfig(async () => {}), supervisor.ready()]);
  ticketKeys.rotate(core.options.settings.tlsPolicy.sessionTimeout, (keys) =>
    supervisor.broadcast({ type: 'ticket-keys', keys }),
  );
  shutdown.add('the control plane', () => ticketKeys.stop());
  const { adminListen, statusListen } = core.options.settings;
  const listeners = adminListen.length > 0 || statusListen.length > 0 ? await startListeners(node) : [];
  const adminAddresses = listeners.flatMap(({ addresses }) => addresses).map(({ ip: host, port }) => ({ host, port }));
  return { ...node, loader: declarative.loader, adminAddresses };
}

/** Returns those of the Admin API. */
async function startListeners(node: ConfiguredNode): Promise<readonly RunningListener[]> {
  const { NodeListeners: Listeners } = await import('../listen-node.ts');
  const { adminListen, statusListen } = node.options.settings;
  const listeners = new Listeners(node);
  const admin = adminListen.length > 0 ? await listeners.startAdmin() : [];
  if (statusListen.length > 0) await listeners.startStatus();
  listeners.reports.start();
  return admin;
}
