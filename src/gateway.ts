import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import type { ListeningNode } from './boot/listen-node.ts';
import { adminCertificates } from './boot/listeners/admin-certificates.ts';
import { claimPorts } from './boot/listeners/claim-ports.ts';
import type { BoundAddress, GatewayAddresses } from './boot/listeners/gateway-addresses.ts';
import { clientCertificate, listenerCertificates } from './boot/listeners/listener-certificates.ts';
import { createNodeCore } from './boot/node-core.ts';
import { reopenLogs } from './boot/open-node.ts';
import { debugTokenOf, writeAddresses } from './boot/process/node-files.ts';
import { nodeIdOf } from './boot/process/node-id.ts';
import { startNode } from './boot/start-node.ts';
import { preparePrefix } from './shared/settings/kinds/prefix.ts';
import type { ListenAddress, Settings } from './shared/settings/settings.ts';
import { setEngineFlags } from './shared/util/process/engine-flags.ts';

/** A running node. */
export interface Gateway {
  readonly addresses: GatewayAddresses;
  /**
   * Ends the node; resolves when every listener, worker and the store are closed. Graceful: the node reports that it is not ready,
   * accepts connections for `shutdownDelay` milliseconds more (default: the setting), and then waits for requests
   * in flight for at most `drainTimeout`. A second call that is not graceful cuts a graceful one short.
   */
  stop(graceful: boolean, shutdownDelay?: number): Promise<void>;
  /** Opens the log files again, after they were moved away. */
  reopenLogs(): void;
  /** Reads the declarative config again, on a node without a database. Never rejects: the outcome is logged. */
  reloadConfig(): Promise<void>;
}

export interface StartOptions {
  /** False in tests, where an uncaught exception must fail the test. Default true: it is logged, and the node continues. */
  readonly ownsProcess?: boolean;
  /** Cancels the start: what was started is stopped, and the promise rejects. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a node; resolves when every worker and the Admin API listen. Rejects with an `Error` of one line that says
 * what is wrong; then nothing of the node is left running.
 */
export async function startGateway(
  settings: Settings,
  warnings: readonly string[],
  { ownsProcess = true, signal }: StartOptions = {},
): Promise<Gateway> {
  setEngineFlags();
  preparePrefix(settings.prefix);
  const compileCache = process.env['NODE_COMPILE_CACHE'] ?? join(settings.prefix, 'cache');
  enableCompileCache(compileCache);
  const certificates = {
    ...listenerCertificates(settings),
    ...adminCertificates(settings),
    clientCertificate: clientCertificate(settings),
  };
  const { proxyListen, streamListen, adminListen, statusListen } = settings;
  const wanted = [...proxyListen, ...streamListen, ...adminListen, ...statusListen];
  const claimed = await claimPorts(wanted, settings.portSharing);
  const addresses = [...claimed.addresses];
  const listeners = {
    proxyListen: addresses.splice(0, proxyListen.length),
    streamListen: addresses.splice(0, streamListen.length),
    adminListen: addresses.splice(0, adminListen.length),
    statusListen: addresses,
  };
  const requestDebugToken = debugTokenOf(settings);
  const bound: Settings = { ...settings, ...certificates, ...listeners, requestDebugToken };
  const nodeId = nodeIdOf(settings.prefix, settings.nodeId);
  const baseDirectory = process.cwd();
  const core = createNodeCore({ settings: bound, nodeId, compileCache, baseDirectory, ownsProcess });
  const { shutdown } = core;
  const abandon = (): void => void shutdown.stop(false, 0);
  let node: ListeningNode;
  signal?.addEventListener('abort', abandon, { once: true });
  try {
    signal?.throwIfAborted();
    node = await startNode(core, warnings);
    signal?.throwIfAborted();
  } catch (error) {
    await shutdown.stop(false, 0);
    throw error;
  } finally {
    signal?.removeEventListener('abort', abandon);
    claimed.release();
  }
  const bindings: GatewayAddresses = {
    proxy: boundTo(bound.proxyListen),
    stream: bound.streamListen.map(({ ip, port, ssl, udp }) => ({ ip, port, ssl, udp })),
    admin: boundTo(bound.adminListen),
    status: boundTo(bound.statusListen),
  };
  writeAddresses(bound, bindings);
  return {
    addresses: bindings,
    stop: (graceful, shutdownDelay = settings.shutdownDelay) => shutdown.stop(graceful, shutdownDelay),
    reopenLogs: () => reopenLogs(node),
    reloadConfig: async () => node.declarative?.source.reload(),
  };
}

function boundTo(addresses: readonly ListenAddress[]): readonly BoundAddress[] {
  return addresses.map(({ ip, port, ssl }) => ({ ip, port, ssl }));
}
