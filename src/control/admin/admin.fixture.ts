import { mkdtemp, rm } from 'node:fs/promises';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import '../../../test/support/file-end.ts';
import { testSettings } from '../../../test/support/settings.ts';
import type { PluginCatalog, PluginDescription } from '../../shared/entities/plugin-catalog.ts';
import { createEntityRegistry, type EntityRegistry } from '../../shared/entities/registry.ts';
import { integer, string } from '../../shared/schema/fields.ts';
import { record } from '../../shared/schema/record.ts';
import type { LogLevel, Settings } from '../../shared/settings/settings.ts';
import { LogProblems } from '../overview/log-problems.ts';
import { createStore } from '../store/create-store.ts';
import type { Store } from '../store/store.ts';
import type { AccessEntry } from './admin-log.ts';
import type { AdminDependencies, AdminOptions, HealthFacts } from './contract.ts';
import { startAdmin, startStatus } from './start-admin.ts';
import { TemporaryLogLevel } from './temporary-log-level.ts';

/** A running Admin API over a real store, without the gateway around it. */
export interface TestAdmin extends AsyncDisposable {
  readonly url: string;
  readonly statusUrl: string;
  readonly port: number;
  readonly store: Store;
  readonly entities: EntityRegistry;
  readonly deps: AdminDependencies;
  readonly options: AdminOptions;
  readonly accessLog: readonly AccessEntry[];
  readonly statusLog: readonly AccessEntry[];
  readonly errors: readonly { readonly message: string; readonly cause: unknown }[];
  readonly warnings: readonly { readonly message: string; readonly fields: Readonly<Record<string, unknown>> }[];
  /** Versions that writes have waited for. */
  readonly published: readonly number[];
  call(method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>): Promise<TestAnswer>;
}

export interface TestAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  /** The answer as JSON; null when it is empty or no JSON. */
  readonly json: Readonly<Record<string, unknown>>;
}

export interface TestAdminOptions {
  readonly settings?: Partial<Settings>;
  readonly tls?: { readonly cert: string; readonly key: string };
  /** SQLite in a temporary folder unless given. */
  readonly pg?: Settings['pg'];
  /** Without it no upstream has health checks. */
  readonly health?: HealthFacts;
}

const plugins: Readonly<Record<string, PluginDescription>> = {
  'rate-limiting': {
    config: record({
      minute: integer({ gt: 0, description: 'Requests a minute.' }),
      policy: string({ required: true, default: 'local', one_of: ['local', 'redis'], description: 'Where it counts.' }),
      limits: record({
        video: integer({ description: 'Videos.' }),
        audio: integer({ default: 7, description: 'Songs.' }),
      }),
    }),
    protocols: ['grpc', 'grpcs', 'http', 'https'],
    defaultProtocols: ['grpc', 'grpcs', 'http', 'https'],
    scopes: ['consumer', 'route', 'service'],
  },
  'key-auth': {
    config: record({ realm: string({ description: 'Realm of the challenge.' }) }),
    protocols: ['grpc', 'grpcs', 'http', 'https'],
    defaultProtocols: ['grpc', 'grpcs', 'http', 'https'],
    scopes: ['route', 'service'],
  },
};

const catalog: PluginCatalog = {
  names: () => Object.keys(plugins),
  describe: (name) => (Object.hasOwn(plugins, name) ? (plugins[name] ?? null) : null),
};

export async function startTestAdmin({ settings = {}, pg, tls, health }: TestAdminOptions = {}): Promise<TestAdmin> {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-admin-'));
  const entities = createEntityRegistry(catalog);
  const { definitions } = entities;
  const store = await createStore(
    pg === undefined
      ? { kind: 'sqlite', file: join(prefix, 'store.sqlite'), definitions }
      : { kind: 'postgres', pg, definitions },
  );
  await store.migrate();
  const published: number[] = [];
  const accessLog: AccessEntry[] = [];
  const statusLog: AccessEntry[] = [];
  const errors: { message: string; cause: unknown }[] = [];
  const warnings: { message: string; fields: Readonly<Record<string, unknown>> }[] = [];
  let level: LogLevel = 'notice';
  const deps: AdminDependencies = {
    settings: testSettings({
      prefix,
      settings: { ...(tls === undefined ? {} : { sslCert: [tls.cert], sslCertKey: [tls.key] }), ...settings },
    }),
    store,
    configHash: null,
    pluginReload: {
      run: async () => ({ state: 'unchanged', plugins: [], took: 0 }),
      state: () => ({ running: false, last: null, versions: 0 }),
    },
    dataPlanes: null,
    closing: new AbortController().signal,
    requestKey: '',
    overview: {
      seconds: { last: () => [], onSecond: () => () => {} },
      problems: new LogProblems(),
      limitHits: () => [],
      certificates: async () => [],
      failingTargets: () => [],
      circuits: () => [],
      workers: () => ({ wanted: 1, restarts: 0, stuck: 0, list: [] }),
      descriptors: () => ({ open: 20, limit: 1024, exhaustions: 0 }),
      configVersion: () => 0,
      startedAt: 0,
    },
    publisher: {
      failures: new Map(),
      async published(version) {
        published.push(version);
      },
    },
    node: {
      nodeId: '6ba7b810-9dad-41d1-80b4-00c04fd430c8',
      version: '0.1.0',
      hostname: 'gw',
      pids: { master: process.pid, workers: [process.pid] },
      connections: () => ({
        accepted: 7,
        handled: 6,
        active: 5,
        reading: 1,
        writing: 2,
        waiting: 3,
        totalRequests: 9,
        shed: 1,
      }),
      memory: async () => [{ worker: 0, heapUsed: 3 * 2 ** 20 }],
      zones: () => [],
      pluginCounts: () => ({}),
      notReadyReason: () => null,
    },
    nodes: {
      list: async () => ({ nodes: [], total: 0, version: 0, staleFor: null }),
      load: () => ({ requests: 9, inFlight: 2, loopDelay: 1.5, shed: 1, workers: 1 }),
      configAge: () => 2500,
    },
    whatIf: null,
    metrics: { enabled: () => false, collect: async () => [], failed: () => {} },
    declarative: null,
    analytics: null,
    traffic: null,
    health: health ?? { stateOf: () => null, setHealth: async () => 'off' },
    dns: async () => ({
      servers: ['10.0.0.2:53'],
      counts: { queries: 4 },
      names: [
        ['new.test', null],
        [
          'a.test',
          {
            addresses: [{ ip: '10.0.0.7', port: 8080, weight: 3, name: 'b.test' }],
            error: 'dns server error: 2 server failure',
            failure: 'failed',
            stale: true,
            expires: 0,
          },
        ],
      ],
      size: 2,
    }),
  };
  const options: AdminOptions = {
    entities,
    catalog,
    plugins: new Map(Object.keys(plugins).map((name, index) => [name, { version: '0.1.0', priority: 900 + index }])),
    log: {
      access: (entry) => void accessLog.push(entry),
      statusAccess: (entry) => void statusLog.push(entry),
      error: (message, cause) => void errors.push({ message, cause }),
      warn: (message, fields) => void warnings.push({ message, fields }),
    },
    inherited: {},
    pluginAdminRoutes: new Map(),
    pluginFailed: () => {},
    pluginBackground: async () => null,
    pluginBroadcast: async () => false,
    pluginZone: () => null,
    logLevel: new TemporaryLogLevel({
      get: () => level,
      set: (next) => {
        level = next;
      },
    }),
    broadcastLogLevel: async () => {},
  };
  const admin = await startAdmin(deps, options);
  const status = await startStatus(deps, options);
  const port = admin.addresses[0]?.port ?? 0;
  return {
    url: `http://127.0.0.1:${port}`,
    statusUrl: `http://127.0.0.1:${status.addresses[0]?.port}`,
    port,
    store,
    entities,
    deps,
    options,
    accessLog,
    statusLog,
    errors,
    warnings,
    published,
    call: (method, path, body, headers) => call(`http://127.0.0.1:${port}`, method, path, body, headers),
    async [Symbol.asyncDispose]() {
      await Promise.all([admin.close(false), status.close(false)]);
      await store.close();
      await rm(prefix, { recursive: true, force: true });
    },
  };
}

/** An object is sent as JSON, a text as a form; other content types by header. */
export function call(
  base: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<TestAnswer> {
  const bytes = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  const type = typeof body === 'string' ? 'application/x-www-form-urlencoded' : 'application/json';
  const { promise, resolve, reject } = Promise.withResolvers<TestAnswer>();
  const request = httpRequest(
    base + path,
    { method, agent: false, headers: { ...framing(bytes, type, headers), ...headers } },
    async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text, json: parse(text) });
    },
  );
  request.on('error', reject);
  request.end(bytes);
  return promise;
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>;
  } catch {
    return {};
  }
}

function framing(
  body: string | Buffer | undefined,
  type: string,
  headers: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  if (body === undefined) return {};
  const length =
    headers['transfer-encoding'] === undefined ? { 'content-length': String(Buffer.byteLength(body)) } : {};
  return { 'content-type': type, ...length };
}
