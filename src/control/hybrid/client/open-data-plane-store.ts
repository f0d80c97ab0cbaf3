import { setTimeout as pause } from 'node:timers/promises';
import type { Row } from '../../../shared/entities/entity.ts';
import { snapshotEntities } from '../../../shared/messages/messages.ts';
import type { Dump, Store } from '../../store/store.ts';
import type { DataPlaneStore, DataPlaneStoreOptions, HybridSettings } from '../contract.ts';
import { linkTimes } from '../protocol/link-times.ts';
import { linkTls } from '../protocol/link-tls.ts';
import { unavailable } from '../protocol/wire-errors.ts';
import { LinkConnector } from './link-connector.ts';
import { LinkLost, LinkSession } from './link-session.ts';
import { OptimisticWrites } from './optimistic-writes.ts';
import { ReceivedConfig } from './received-config.ts';

/** Milliseconds between two looks at a config that is on its way. */
const dumpPoll = 20;

/** Connects to a control plane. Throws an `Error` of one line when a certificate cannot be used. */
export function openDataPlaneStore(options: DataPlaneStoreOptions): DataPlaneStore {
  const { settings, entities, log, nodeId, hostname, version: nodeVersion } = options;
  const { timeout } = settings;
  const config = new ReceivedConfig(options.position);
  const times = linkTimes(options.times);
  let tls = linkTls(settings);
  let acknowledged: { readonly version: number } | null = null;
  const link = new LinkConnector({
    addresses: settings.controlPlanes,
    times,
    patience: timeout,
    log,
    open: async (address) => {
      const node = { nodeId, hostname, version: nodeVersion };
      const session = await LinkSession.open(address, { node, settings, tls, times, config });
      if (acknowledged !== null) session.send({ t: 'synced', ...acknowledged });
      return session;
    },
  });

  const call = async (method: string, args: object): Promise<unknown> => (await link.session()).call(method, args);
  /** For what may be done twice: a call whose connection was lost is repeated on the next one. */
  const repeatable = async (method: string, args: object): Promise<unknown> => {
    try {
      return await call(method, args);
    } catch (error) {
      if (error instanceof LinkLost) return call(method, args);
      throw error;
    }
  };
  const followed = (): number => config.head?.version ?? -1;
  const find = async (entity: string, field: string, value: string): Promise<Row | null> =>
    (await repeatable('find', { entity, field, value, followed: followed() })) as Row | null;

  const writes = new OptimisticWrites({
    entities,
    call: (method, args) => (method === 'read' ? repeatable(method, args as object) : call(method, args as object)),
    clockOffset: () => link.current?.clockOffset ?? 0,
    version: followed,
  });

  const known = new Set<string>(snapshotEntities);

  async function dump(wanted: readonly string[]): Promise<Dump> {
    const unknown = wanted.find((entity) => !known.has(entity));
    if (unknown !== undefined) throw new TypeError(`a data plane has no copy of all ${unknown}`);
    let whole = config.takeDump();
    if (whole === null && config.synced && config.receiving === null) (await link.session()).send({ t: 'resend' });
    // A large config may take long; it fails when nothing more arrives.
    let seen = -1;
    for (let end = performance.now() + timeout; whole === null; whole = config.takeDump()) {
      const received = config.receiving ?? -1;
      if (received !== seen) end = performance.now() + timeout;
      seen = received;
      if (performance.now() > end) {
        await link.session();
        throw unavailable('the control plane does not send its config');
      }
      await pause(dumpPoll);
    }
    const rows = whole.entities;
    return { ...whole, entities: Object.fromEntries(wanted.map((entity) => [entity, rows[entity] ?? []])) };
  }

  const position: Store['position'] = async () => {
    if (!config.synced) await repeatable('ping', {});
    if (config.head === null) throw unavailable('no config has been received from a control plane');
    return config.head;
  };

  return {
    kind: 'control_plane',
    get connectedTo() {
      return link.current?.address ?? null;
    },
    get currentAt() {
      return config.currentAt;
    },
    acknowledge(version) {
      acknowledged = { version };
      link.current?.send({ t: 'synced', version });
    },
    setTls(next: Pick<HybridSettings, 'cert' | 'key' | 'ca'>) {
      tls = linkTls({ ...settings, ...next });
    },

    get: (entity, id) => find(entity, 'id', id),
    findBy: find,
    list: async (entity, query) =>
      (await repeatable('list', { entity, query, followed: followed() })) as readonly Row[],
    count: async (entity) => (await repeatable('count', { entity })) as number,
    // The control plane removes what has expired.
    hasExpired: async () => false,
    deleteExpiredCounters: async () => 0,
    deleteUsage: async () => 0,
    deleteUsageNames: async () => 0,
    deleteNodes: async () => 0,

    migrate: async () => undefined,
    write: (work) => writes.write(work),
    dump,
    position,
    version: async () => (await position()).version,
    changesSince: async (since) => config.changesSince(since),
    subscribe: (listener) => config.listen(listener),
    ping: async () => void (await repeatable('ping', {})),

    leaseCounters: async (requests) =>
      (await call('leaseCounters', { requests })) as Awaited<ReturnType<Store['leaseCounters']>>,
    readCounters: async (keys) =>
      (await repeatable('readCounters', { keys })) as Awaited<ReturnType<Store['readCounters']>>,
    putUsage: async (rows, names) => void (await repeatable('putUsage', { rows, names })),
    readUsage: async (query) => (await repeatable('readUsage', { query })) as Awaited<ReturnType<Store['readUsage']>>,
    readUsageNames: async (kind, ids) =>
      (await repeatable('readUsageNames', { kind, ids })) as Awaited<ReturnType<Store['readUsageNames']>>,
    findUsageNames: async (kind, name) =>
      (await repeatable('findUsageNames', { kind, name })) as Awaited<ReturnType<Store['findUsageNames']>>,
    putNodes: async (nodes) => void (await repeatable('putNodes', { nodes })),
    countNodes: async (roles, within) => (await repeatable('countNodes', { roles, within })) as number,
    removeNode: async (id) => void (await call('removeNode', { id })),
    noteUse: async (entity, id, field, value) => void (await repeatable('noteUse', { entity, id, field, value })),

    resetCounters: unsupported('resetCounters'),
    readNodes: unsupported('readNodes'),
    listTags: unsupported('listTags'),
    listAudit: unsupported('listAudit'),
    getAudit: unsupported('getAudit'),
    deleteAudit: unsupported('deleteAudit'),
    listVersions: unsupported('listVersions'),
    getVersion: unsupported('getVersion'),
    listVersionChanges: unsupported('listVersionChanges'),
    rowsBetween: unsupported('rowsBetween'),
    trimHistory: unsupported('trimHistory'),
    close: async () => link.close(),
  };
}

function unsupported(name: string): () => Promise<never> {
  return () => Promise.reject(new TypeError(`the store of a data plane has no ${name}`));
}
