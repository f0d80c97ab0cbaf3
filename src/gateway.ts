import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { claimPorts } from './boot/claim-ports.ts';
import { listenerCertificates } from './boot/listener-certificates.ts';
import { nodeIdOf } from './boot/node-id.ts';
import { NodeParts } from './boot/node-parts.ts';
import { preparePrefix } from './settings/prefix.ts';
import type { ListenAddress, Settings } from './settings/settings.ts';

/** An address that the node listens on. */
export interface BoundAddress {
  readonly ip: string;
  readonly port: number;
  readonly ssl: boolean;
}

export interface GatewayAddresses {
  readonly proxy: readonly BoundAddress[];
  readonly admin: readonly BoundAddress[];
  readonly status: readonly BoundAddress[];
}

/** A running node. */
export interface Gateway {
  readonly addresses: GatewayAddresses;
  /**
   * Ends the node; resolves when every listener, worker and the store are closed. Graceful: no new connections, requests
   * in flight get `drainTimeout`. A second call that is not graceful cuts a graceful one short.
   */
  stop(graceful: boolean): Promise<void>;
  /** Opens the log files again, after they were moved away. */
  reopenLogs(): void;
}

export interface StartOptions {
  /** False in tests, where exceptions that nobody caught have to be seen. Default true: they are logged and survived. */
  readonly ownsProcess?: boolean;
}

/**
 * Starts a node; resolves when every worker and the Admin API listen. Rejects with an `Error` of one line that tells a
 * person what is wrong; then nothing of the node is left running.
 */
export async function startGateway(
  settings: Settings,
  warnings: readonly string[],
  { ownsProcess = true }: StartOptions = {},
): Promise<Gateway> {
  preparePrefix(settings.prefix);
  const compileCache = process.env['NODE_COMPILE_CACHE'] ?? join(settings.prefix, 'cache');
  enableCompileCache(compileCache);
  const certificates = listenerCertificates(settings);
  const claimed = await claimPorts([...settings.proxyListen, ...settings.adminListen, ...settings.statusListen]);
  const proxyListen = claimed.addresses.slice(0, settings.proxyListen.length);
  const adminListen = claimed.addresses.slice(proxyListen.length, proxyListen.length + settings.adminListen.length);
  const statusListen = claimed.addresses.slice(proxyListen.length + adminListen.length);
  const bound: Settings = { ...settings, ...certificates, proxyListen, adminListen, statusListen };
  const nodeId = nodeIdOf(settings.prefix, settings.nodeId);
  const parts = new NodeParts({ settings: bound, nodeId, compileCache, baseDirectory: process.cwd(), ownsProcess });
  try {
    await parts.start(warnings);
  } catch (error) {
    await parts.stop(false);
    throw error;
  } finally {
    claimed.release();
  }
  return {
    addresses: { proxy: boundTo(proxyListen), admin: boundTo(adminListen), status: boundTo(statusListen) },
    stop: (graceful) => parts.stop(graceful),
    reopenLogs: () => parts.reopenLogs(),
  };
}

function boundTo(addresses: readonly ListenAddress[]): readonly BoundAddress[] {
  return addresses.map(({ ip, port, ssl }) => ({ ip, port, ssl }));
}
