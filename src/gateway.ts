import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { claimPorts } from './boot/claim-ports.ts';
import { clientCertificate, listenerCertificates } from './boot/listener-certificates.ts';
import { debugTokenOf, writeAddresses } from './boot/node-files.ts';
import { nodeIdOf } from './boot/node-id.ts';
import { NodeParts } from './boot/node-parts.ts';
import { preparePrefix } from './settings/prefix.ts';
import type { ListenAddress, Settings } from './settings/settings.ts';
import { setEngineFlags } from './util/engine-flags.ts';

/** An address that the node listens on. */
export interface BoundAddress {
  readonly ip: string;
  readonly port: number;
  readonly ssl: boolean;
}

/** An address that streams are taken on. */
export interface BoundStreamAddress extends BoundAddress {
  readonly udp: boolean;
}

export interface GatewayAddresses {
  readonly proxy: readonly BoundAddress[];
  readonly stream: readonly BoundStreamAddress[];
  readonly admin: readonly BoundAddress[];
  readonly status: readonly BoundAddress[];
}

/** A running node. */
export interface Gateway {
  readonly addresses: GatewayAddresses;
  /**
   * Ends the node; resolves when every listener, worker and the store are closed. Graceful: the node reports that it is not ready,
   * accepts connections for `shutdownDelay` milliseconds more (default: the setting), and then gives requests in flight
   * `drainTimeout`. A second call that is not graceful cuts a graceful one short.
   */
  stop(graceful: boolean, shutdownDelay?: number): Promise<void>;
  /** Opens the log files again, after they were moved away. */
  reopenLogs(): void;
}

export interface StartOptions {
  /** False in tests, where exceptions that nobody caught have to be seen. Default true: they are logged and survived. */
  readonly ownsProcess?: boolean;
  /** Cancels the start: parts already started are stopped, and the promise rejects. */
  readonly signal?: AbortSignal;
}

/**
 * Starts a node; resolves when every worker and the Admin API listen. Rejects with an `Error` of one line that tells a
 * person what is wrong; then nothing of the node is left running.
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
  const certificates = { ...listenerCertificates(settings), clientCertificate: clientCertificate(settings) };
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
  const parts = new NodeParts({ settings: bound, nodeId, compileCache, baseDirectory: process.cwd(), ownsProcess });
  const abandon = (): void => void parts.stop(false, 0);
  signal?.addEventListener('abort', abandon, { once: true });
  try {
    signal?.throwIfAborted();
    await parts.start(warnings);
    signal?.throwIfAborted();
  } catch (error) {
    await parts.stop(false, 0);
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
    stop: (graceful, shutdownDelay = settings.shutdownDelay) => parts.stop(graceful, shutdownDelay),
    reopenLogs: () => parts.reopenLogs(),
  };
}

function boundTo(addresses: readonly ListenAddress[]): readonly BoundAddress[] {
  return addresses.map(({ ip, port, ssl }) => ({ ip, port, ssl }));
}
