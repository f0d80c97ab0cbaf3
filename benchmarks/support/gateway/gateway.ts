import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync } from 'node:fs';
import { join } from 'node:path';
import { measuredRoot } from '../against/lanes.ts';
import { placed } from '../machine/placement.ts';
import { BenchError } from '../machine/tools.ts';
import { stopProcess } from '../peers/nginx.ts';
import type { Subject } from '../subject.ts';

export interface GatewaySubject extends Subject {
  readonly adminUrl: string;
  readonly prefix: string;
  /** `127.0.0.1:<port>` of a control plane, for its data planes; '' elsewhere. */
  readonly clusterAddress: string;
}

export interface GatewayOptions {
  readonly folder: string;
  readonly workers: number;
  /** A prefix that exists already: its store is opened. */
  readonly prefix?: string;
  readonly name?: string;
  /** Settings of this scenario. */
  readonly env?: Readonly<Record<string, string>>;
}

/** The command line of the gateway that the running scenario measures. */
export function gatewayMain(): string {
  return join(measuredRoot(), 'src', 'main.ts');
}

/**
 * A gateway in a process of its own, as `npm start` runs it, with access logs off like the peer's. With one worker it is on the
 * core of the subject, with all its threads.
 */
export async function startGateway(options: GatewayOptions): Promise<GatewaySubject> {
  const { child, prefix } = spawnGateway(options);
  const addresses = await readAddresses(child);
  const port = addresses.proxy[0]?.port ?? 0;
  return {
    name: options.name ?? 'gateway',
    port,
    url: `http://127.0.0.1:${port}`,
    adminUrl: `http://127.0.0.1:${addresses.admin[0]?.port ?? 0}`,
    prefix,
    clusterAddress: addresses.cluster[0] === undefined ? '' : `127.0.0.1:${addresses.cluster[0].port}`,
    pids: () => [child.pid as number],
    stop: () => stopProcess(child),
  };
}

export interface SpawnedGateway {
  readonly child: ChildProcess;
  readonly prefix: string;
}

/** Spawns without waiting. Ports: `proxyPort` when given, else chosen by the system. */
export function spawnGateway(options: GatewayOptions, proxyPort = 0): SpawnedGateway {
  mkdirSync(options.folder, { recursive: true });
  const prefix = options.prefix ?? mkdtempSync(join(options.folder, 'gateway-'));
  const where = options.workers === 1 ? 'subject' : 'all';
  const words = ['--disable-warning=ExperimentalWarning', gatewayMain(), 'start'];
  const child = spawn(...placed(where, process.execPath, words), {
    stdio: ['ignore', 'pipe', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      HOME: process.env['HOME'],
      // As the launcher sets it.
      NODE_COMPILE_CACHE: join(measuredRoot(), '.runtime', 'compile-cache'),
      KONG_PREFIX: prefix,
      KONG_PROXY_LISTEN: `127.0.0.1:${proxyPort} reuseport backlog=4096`,
      KONG_ADMIN_LISTEN: '127.0.0.1:0',
      KONG_STATUS_LISTEN: 'off',
      KONG_ADMIN_GUI_LISTEN: 'off',
      KONG_NGINX_WORKER_PROCESSES: String(options.workers),
      KONG_PROXY_ACCESS_LOG: 'off',
      KONG_ADMIN_ACCESS_LOG: 'off',
      KONG_NGINX_HTTP_KEEPALIVE_REQUESTS: '100000000',
      KONG_NGINX_HTTP_KEEPALIVE_TIMEOUT: '600s',
      KONG_UPSTREAM_KEEPALIVE_MAX_REQUESTS: '1000000',
      SLUICEGATE_LOG_FORMAT: 'json',
      SLUICEGATE_SHUTDOWN_DELAY: '0s',
      ...options.env,
    },
  });
  return { child, prefix };
}

interface Addresses {
  readonly proxy: readonly { readonly port: number }[];
  readonly admin: readonly { readonly port: number }[];
  readonly cluster: readonly { readonly port: number }[];
}

/** The first JSON line on its output that tells the addresses. */
export async function readAddresses(child: ChildProcess): Promise<Addresses> {
  return await new Promise((resolve, reject) => {
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
      const line = output.split('\n').find((text) => text.includes('"addresses"'));
      if (line === undefined) return;
      try {
        resolve((JSON.parse(line) as { addresses: Addresses }).addresses);
      } catch {
        // The line is not whole yet.
      }
    });
    child.once('exit', (code) => reject(new BenchError(`the gateway ended with ${code} instead of starting`)));
  });
}
