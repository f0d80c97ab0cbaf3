import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import type { BalancedNode } from './haproxy.ts';
import { postgresEnv, startPostgres, type TestPostgres } from './postgres.ts';

/** A node of a cluster: a process that can end and start again on the same addresses and prefix. */
export interface ClusterNode extends BalancedNode {
  readonly adminUrl: string;
  readonly proxyUrl: string;
  readonly statusUrl: string;
  readonly prefix: string;
  readonly running: boolean;
  /** Of the process that runs, or ran last. */
  readonly process: GatewayProcess;
  /** Resolves when the node listens. */
  start(env?: Readonly<Record<string, string>>): Promise<void>;
  /** Ends it gracefully, by SIGTERM. */
  stop(): Promise<void>;
  /** Ends it by SIGKILL. */
  kill(): Promise<void>;
}

export interface Cluster extends AsyncDisposable {
  readonly nodes: readonly ClusterNode[];
  readonly postgres: TestPostgres;
  /** An address of 127.0.0.0/8 that no node has. */
  readonly host: string;
  /** The node with this position. */
  node(at: number): ClusterNode;
}

export interface ClusterOptions {
  readonly nodes: number;
  /** How many of them start at once; default: all. */
  readonly started?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Addresses where PostgreSQL listens in addition to 127.0.0.1. */
  readonly databaseAddresses?: readonly string[];
  /** Where the node with a position runs, if it is not as the others. */
  readonly place?: (at: number, postgres: TestPostgres) => Promise<NodePlace | null>;
}

export interface NodePlace {
  readonly host?: string;
  /** Where the node finds PostgreSQL. */
  readonly database?: { readonly host: string; readonly port: number };
  /** The command that runs it, as of `startGatewayProcess`. */
  readonly through?: readonly string[];
}

let clusters = 0;

/**
 * Nodes as separate processes on one PostgreSQL. Each has an address of 127.0.0.0/8 with the usual ports, so that it can start again
 * on them while other tests look for free ports.
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-cluster-'));
  const postgres = await startPostgres({ addresses: options.databaseAddresses ?? [] });
  clusters = (clusters + 1) % 8;
  const network = `127.${100 + (process.pid % 100)}.${(Math.floor(process.pid / 100) % 30) * 8 + clusters}`;
  const places = await Promise.all(
    Array.from({ length: options.nodes }, async (_, at): Promise<NodePlace> => {
      return (await options.place?.(at, postgres)) ?? {};
    }),
  );
  const nodes = places.map(({ host, database: place, through = [] }, at) =>
    clusterNode({
      name: `node${at + 1}`,
      host: host ?? `${network}.${at + 1}`,
      through,
      prefix: join(folder, `node${at + 1}`),
      env: {
        ...postgresEnv({ ...postgres, ...place }),
        KONG_PROXY_ACCESS_LOG: 'off',
        KONG_ADMIN_ACCESS_LOG: 'off',
        ...options.env,
      },
    }),
  );
  const cluster: Cluster = {
    nodes,
    postgres,
    host: `${network}.100`,
    node(at) {
      const node = nodes[at];
      if (node === undefined) throw new Error(`there is no node ${at}`);
      return node;
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(nodes.map((node) => node.running && node.kill()));
      await postgres.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
  try {
    await Promise.all(nodes.slice(0, options.started ?? nodes.length).map((node) => node.start()));
  } catch (error) {
    await cluster[Symbol.asyncDispose]();
    throw error;
  }
  return cluster;
}

interface NodeOptions {
  readonly name: string;
  readonly host: string;
  readonly through: readonly string[];
  readonly prefix: string;
  readonly env: Readonly<Record<string, string>>;
}

function clusterNode({ name, host, through, prefix, env }: NodeOptions): ClusterNode {
  const [proxyPort, adminPort, tlsPort, statusPort] = [8000, 8001, 8443, 8100];
  let current: GatewayProcess | null = null;
  const running = (): boolean =>
    current !== null && current.child.exitCode === null && current.child.signalCode === null;
  const latest = (): GatewayProcess => {
    if (current === null) throw new Error(`${name} has not been started`);
    return current;
  };
  return {
    name,
    host,
    prefix,
    proxyPort,
    tlsPort,
    statusPort,
    adminUrl: `http://${host}:${adminPort}`,
    proxyUrl: `http://${host}:${proxyPort}`,
    statusUrl: `http://${host}:${statusPort}`,
    get running() {
      return running();
    },
    get process() {
      return latest();
    },
    async start(more = {}) {
      const listeners = {
        KONG_PROXY_LISTEN: `${host}:${proxyPort}, ${host}:${tlsPort} http2 ssl`,
        KONG_ADMIN_LISTEN: `${host}:${adminPort}`,
        KONG_STATUS_LISTEN: `${host}:${statusPort}`,
        KONG_ADMIN_GUI_LISTEN: 'off',
      };
      current = startGatewayProcess(prefix, { ...listeners, ...env, ...more }, [], undefined, through);
      await current.started();
    },
    async stop() {
      const { child, exit, output } = latest();
      child.kill('SIGTERM');
      assert.equal(await exit, 0, output());
    },
    async kill() {
      const { child, exit } = latest();
      child.kill('SIGKILL');
      await exit;
    },
  };
}

/** Writes by the Admin API of a node; returns the status. */
export async function put(node: ClusterNode, path: string, body: object): Promise<number> {
  const response = await fetch(node.adminUrl + path, {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  await response.arrayBuffer();
  return response.status;
}

/** The status of a request to the proxy of a node. */
export async function statusOf(node: ClusterNode, path: string): Promise<number> {
  const response = await fetch(node.proxyUrl + path, { signal: AbortSignal.timeout(10_000) });
  await response.arrayBuffer();
  return response.status;
}

/** Whether the node reports that it is ready, and its reason. */
export async function readiness(node: ClusterNode): Promise<{ readonly status: number; readonly message: string }> {
  const response = await fetch(`${node.statusUrl}/status/ready`, { signal: AbortSignal.timeout(10_000) });
  const { message } = (await response.json()) as { message: string };
  return { status: response.status, message };
}
