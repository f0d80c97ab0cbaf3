import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { clusterCertificate } from '../../src/shared/tls/self-signed.ts';
import type { AdminAnswer } from './gateway.ts';
import { type GatewayProcess, startGatewayProcess } from './gateway-process.ts';
import { until } from './until.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export interface ControlPlane extends GatewayProcess {
  readonly prefix: string;
  readonly adminUrl: string;
  /** `127.0.0.1:<port>` */
  readonly address: string;
  admin(method: string, path: string, body?: unknown): Promise<AdminAnswer>;
  /** The row of `GET /clustering/data-planes`. */
  row(dataPlane: DataPlane): Promise<Readonly<Record<string, unknown>> | undefined>;
  /** Resolves when all workers of these data planes have the config of now. */
  settled(...dataPlanes: readonly DataPlane[]): Promise<void>;
}

export interface DataPlane extends GatewayProcess {
  readonly prefix: string;
  readonly id: string;
  readonly proxyUrl: string;
  readonly statusUrl: string;
  /** The status of a request to the proxy. */
  statusOf(path: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** `configuration_hash` of `/status`. */
  hash(): Promise<string>;
}

/** Control planes and data planes as processes, with one certificate. */
export interface HybridRig {
  stop(): Promise<void>;
  readonly folder: string;
  readonly certificate: Environment;
  /** `name`: of its prefix, which stays for the next process of that name. `entry`: another version. */
  controlPlane(name?: string, env?: Environment, entry?: string): Promise<ControlPlane>;
  dataPlane(controlPlanes: string, name?: string, env?: Environment, entry?: string): Promise<DataPlane>;
  /** Without waiting until it listens. */
  launchDataPlane(controlPlanes: string, name: string, env?: Environment, entry?: string): GatewayProcess;
  prefixOf(name: string): string;
}

export async function startHybridRig(): Promise<HybridRig> {
  const folder = await mkdtemp(join(tmpdir(), 'sluicegate-hybrid-'));
  const { cert, key } = clusterCertificate(2);
  const files = { cert: join(folder, 'cluster.crt'), key: join(folder, 'cluster.key') };
  await writeFile(files.cert, cert);
  await writeFile(files.key, key, { mode: 0o600 });
  const certificate = { KONG_CLUSTER_CERT: files.cert, KONG_CLUSTER_CERT_KEY: files.key };
  const processes: GatewayProcess[] = [];
  const prefixOf = (name: string): string => join(folder, name);
  const launch = (name: string, env: Environment, entry?: string): GatewayProcess => {
    const started = startGatewayProcess(prefixOf(name), { ...certificate, ...env }, [], entry);
    processes.push(started);
    return started;
  };
  const launchDataPlane: HybridRig['launchDataPlane'] = (controlPlanes, name, env, entry) =>
    launch(name, { KONG_ROLE: 'data_plane', KONG_CLUSTER_CONTROL_PLANE: controlPlanes, ...env }, entry);
  return {
    folder,
    certificate,
    prefixOf,
    launchDataPlane,
    async controlPlane(name = 'control-plane', env = {}, entry) {
      const role = { KONG_ROLE: 'control_plane', KONG_CLUSTER_LISTEN: '127.0.0.1:0' };
      const node = launch(name, { ...role, ...env }, entry);
      await node.started();
      return controlPlaneOf(node, prefixOf(name));
    },
    async dataPlane(controlPlanes, name = 'data-plane', env, entry) {
      const node = launchDataPlane(controlPlanes, name, env, entry);
      await node.started();
      return dataPlaneOf(node, prefixOf(name));
    },
    async stop() {
      await Promise.all(processes.map((one) => one[Symbol.asyncDispose]()));
      await rm(folder, { recursive: true, force: true });
    },
  };
}

let markers = 0;

function controlPlaneOf(node: GatewayProcess, prefix: string): ControlPlane {
  const adminUrl = node.url('admin');
  const admin: ControlPlane['admin'] = async (method, path, body) => {
    const response = await fetch(adminUrl + path, {
      method,
      ...(body === undefined ? {} : { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
  };
  const row: ControlPlane['row'] = async ({ id }) => {
    const { body } = await admin('GET', '/clustering/data-planes');
    return (body['data'] as readonly Readonly<Record<string, unknown>>[]).find((one) => one['id'] === id);
  };
  return {
    ...node,
    prefix,
    adminUrl,
    address: new URL(node.url('cluster')).host,
    admin,
    row,
    async settled(...dataPlanes) {
      // A route that answers by itself: who has it has everything that was written before it.
      const path = `/settled-${process.pid}-${++markers}`;
      const route = await admin('PUT', '/routes/settled', { paths: [path] });
      assert.equal(route.status, 200, JSON.stringify(route.body));
      const plugin = await admin('PUT', '/routes/settled/plugins/5e771ed0-0000-4000-8000-000000000000', {
        name: 'request-termination',
        config: { status_code: 204 },
      });
      assert.equal(plugin.status, 200, JSON.stringify(plugin.body));
      for (const dataPlane of dataPlanes) {
        await until(async () => (await dataPlane.statusOf(path)) === 204);
        const hash = await dataPlane.hash();
        await until(async () => (await row(dataPlane))?.['config_hash'] === hash || (await dataPlane.hash()) !== hash);
      }
    },
  };
}

async function dataPlaneOf(node: GatewayProcess, prefix: string): Promise<DataPlane> {
  const [proxyUrl, statusUrl] = [node.url('proxy'), node.url('status')];
  return {
    ...node,
    prefix,
    proxyUrl,
    statusUrl,
    id: (await readFile(join(prefix, 'node_id'), 'utf8')).trim(),
    async statusOf(path, headers = {}) {
      const response = await fetch(proxyUrl + path, { headers: { connection: 'close', ...headers } });
      await response.arrayBuffer();
      return response.status;
    },
    async hash() {
      const response = await fetch(`${statusUrl}/status`);
      return String(((await response.json()) as Record<string, unknown>)['configuration_hash']);
    },
  };
}
