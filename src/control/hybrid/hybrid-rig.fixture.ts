import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { CertificateAuthority, type IssuedCertificate } from '../../../test/support/certificate-authority.ts';
import { until } from '../../../test/support/until.ts';
import { createEntityRegistry, type EntityRegistry } from '../../shared/entities/registry.ts';
import type { CachedRows } from '../lookup/cached-rows.ts';
import { Publisher } from '../publish/publisher.ts';
import type { DeltaReceivers } from '../publish/publisher-options.ts';
import { createStore } from '../store/create-store.ts';
import type { Dump, Store } from '../store/store.ts';
import { openDataPlaneStore } from './client/open-data-plane-store.ts';
import type {
  ControlPlaneServer,
  ControlPlaneServerOptions,
  DataPlaneStore,
  DataPlaneStoreOptions,
  HybridSettings,
  HybridTimes,
} from './contract.ts';
import { type ServerInternals, startControlPlaneServer } from './server/start-control-plane-server.ts';

/** Certificates are made once for all tests of a file: openssl is slow. */
export const authority = new CertificateAuthority('cluster');
export const clusterCertificate = authority.issue('control.test');

export const coreEntities: EntityRegistry = createEntityRegistry({ names: () => [], describe: () => null });

/** Quick enough for tests. */
export const testTimes: Partial<HybridTimes> = {
  pingInterval: 200,
  silence: 1000,
  firstPause: 20,
  maxPause: 100,
  leave: 200,
};

export interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A log that tests read. */
export class LogLines {
  readonly lines: LogLine[] = [];

  log(level: string, message: string, fields: Readonly<Record<string, unknown>> = {}): void {
    this.lines.push({ level, message, fields });
  }

  has(message: string): boolean {
    return this.lines.some((line) => line.message.includes(message));
  }
}

const noWorkers: DeltaReceivers = {
  configure: () => {},
  broadcast: () => {},
  settled: async () => true,
  lagging: () => [],
};

export function sharedSettings(
  controlPlanes: readonly string[] = [],
  { cert, key }: IssuedCertificate = clusterCertificate,
): HybridSettings {
  return {
    mtls: 'shared',
    cert,
    key,
    ca: null,
    serverName: null,
    controlPlanes,
    maxPayload: 16 * 1024 * 1024,
    timeout: 2000,
    labels: {},
  };
}

export interface TestControlPlane {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly server: ControlPlaneServer;
  readonly address: string;
  readonly log: LogLines;
  close(): Promise<void>;
}

/** A connection whose messages the test sends and reads itself. */
export interface OpenLink {
  readonly socket: WebSocket;
  readonly messages: Readonly<Record<string, unknown>>[];
  /** The next message of one of these types. */
  next(...types: readonly string[]): Promise<Readonly<Record<string, unknown>>>;
}

export interface RawLink extends OpenLink {
  readonly node: string;
  readonly welcome: Readonly<Record<string, unknown>>;
  readonly refusal: Readonly<Record<string, unknown>>;
}

export interface ControlPlaneOptions extends ServerInternals {
  readonly store?: Store;
  readonly entities?: EntityRegistry;
  readonly settings?: Partial<HybridSettings>;
  readonly cached?: CachedRows;
  /** Instead of the config of the store, which is not followed then. */
  readonly config?: Dump;
  readonly server?: Partial<ControlPlaneServerOptions>;
  readonly port?: number;
}

/** Control planes and data planes of one test, over real connections; all are closed after it. */
export class HybridRig implements AsyncDisposable {
  readonly #closing: (() => Promise<unknown>)[] = [];

  /** Closes it after what is opened later. */
  defer(close: () => Promise<unknown>): void {
    this.#closing.push(close);
  }

  async openStore(entities: EntityRegistry = coreEntities): Promise<Store> {
    const folder = await mkdtemp(join(tmpdir(), 'sluicegate-hybrid-'));
    const store = await createStore({
      kind: 'sqlite',
      file: join(folder, 'store.sqlite'),
      definitions: entities.definitions,
    });
    this.#closing.push(async () => {
      await store.close();
      await rm(folder, { recursive: true, force: true });
    });
    await store.migrate();
    return store;
  }

  async controlPlane(options: ControlPlaneOptions = {}): Promise<TestControlPlane> {
    const { entities = coreEntities, cached = null, port = 0, rights, maxHeldBytes } = options;
    const store = options.store ?? (await this.openStore(entities));
    const log = new LogLines();
    const publisher = new Publisher({ store, workers: noWorkers, log });
    if (options.config === undefined) {
      await publisher.load();
      publisher.follow();
    } else publisher.begin(options.config);
    const server = await startControlPlaneServer(
      {
        listen: [{ ip: '127.0.0.1', port }],
        settings: { ...sharedSettings(), ...options.settings },
        store,
        entities,
        publisher,
        cached,
        nodeId: randomUUID(),
        hostname: 'control.test',
        version: '1.2.3',
        log,
        times: testTimes,
        ...options.server,
      },
      { ...(rights === undefined ? {} : { rights }), ...(maxHeldBytes === undefined ? {} : { maxHeldBytes }) },
    );
    let closed: Promise<void> | null = null;
    const close = (): Promise<void> => {
      closed ??= server.close().then(() => publisher.close());
      return closed;
    };
    this.#closing.push(close);
    return { store, publisher, server, log, close, address: `127.0.0.1:${server.addresses[0]?.port}` };
  }

  dataPlane(
    settings: HybridSettings,
    options: Partial<DataPlaneStoreOptions> = {},
  ): { readonly store: DataPlaneStore; readonly log: LogLines; readonly id: string } {
    const log = new LogLines();
    const id = options.nodeId ?? randomUUID();
    const store = openDataPlaneStore({
      settings,
      entities: coreEntities,
      nodeId: id,
      hostname: 'data.test',
      version: '1.2.3',
      position: null,
      log,
      times: testTimes,
      ...options,
    });
    this.#closing.push(() => store.close());
    return { store, log, id };
  }

  /** A publisher over the store of a data plane, without workers. */
  async follow(store: Store): Promise<Publisher> {
    const publisher = new Publisher({ store, workers: noWorkers, log: new LogLines() });
    this.#closing.push(() => publisher.close());
    await publisher.load();
    publisher.follow();
    return publisher;
  }

  /** A connection without the client of a data plane. `hello`: members of its first message. */
  async introduce(
    address: string,
    hello: Readonly<Record<string, unknown>> = {},
    localAddress = '127.0.0.1',
  ): Promise<RawLink> {
    const link = await this.connect(address, clusterCertificate, localAddress);
    const node = randomUUID();
    const message = {
      t: 'hello',
      protocol: { min: 1, max: 1 },
      features: [],
      node: { id: node, hostname: 'raw.test', version: '9.9.9' },
      labels: {},
      position: null,
    };
    link.socket.send(JSON.stringify({ ...message, ...hello }));
    const answer = await link.next('welcome', 'refused');
    return Object.assign(link, { node, welcome: answer, refusal: answer });
  }

  async connect(
    address: string,
    issued: IssuedCertificate = clusterCertificate,
    localAddress = '127.0.0.1',
  ): Promise<OpenLink> {
    const socket = new WebSocket(`wss://${address}/v1/sluicegate`, {
      localAddress,
      cert: issued.cert,
      key: issued.key,
      rejectUnauthorized: false,
    });
    const messages: Readonly<Record<string, unknown>>[] = [];
    socket.on('message', (data) => messages.push(JSON.parse(String(data)) as Readonly<Record<string, unknown>>));
    socket.on('error', () => {});
    this.#closing.push(async () => socket.terminate());
    await once(socket, 'open');
    const next: OpenLink['next'] = async (...types) => {
      await until(() => messages.some(({ t }) => types.includes(String(t))));
      return messages.splice(
        messages.findIndex(({ t }) => types.includes(String(t))),
        1,
      )[0] as Readonly<Record<string, unknown>>;
    };
    return { socket, messages, next };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const close of this.#closing.splice(0).reverse()) await close();
  }
}
