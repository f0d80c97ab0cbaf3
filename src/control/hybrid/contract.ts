import type { EntityRegistry } from '../../shared/entities/registry.ts';
import type { HybridSettings } from '../../shared/settings/hybrid-settings.ts';
import type { InheritedDescriptors, ListeningSocket } from '../../shared/sockets/listening-sockets.ts';
import type { CachedRows } from '../lookup/cached-rows.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { PublisherLog } from '../publish/publisher-options.ts';
import type { FeedPosition, Store } from '../store/store.ts';

export type { HybridSettings };

/**
 * The connection between control planes and data planes.
 *
 * A data plane has no database. It opens one connection (WebSocket over mutual TLS) to one of its control planes, and uses the store
 * through it: `DataPlaneStore` is a `Store`, so everything that works with a store works there. Changes come without a request: the
 * control plane sends each batch of its change feed once to all data planes that are in the position before it.
 */

/** A data plane as a control plane sees it. */
export interface ConnectedDataPlane {
  readonly id: string;
  readonly hostname: string;
  readonly ip: string;
  readonly version: string;
  readonly labels: Readonly<Record<string, string>>;
  /** Milliseconds since the epoch. */
  readonly connectedAt: number;
  readonly seenAt: number;
  /** Version of the config that its workers have; -1: none yet. */
  readonly configVersion: number;
  /** End of its certificate, milliseconds since the epoch. */
  readonly certificateExpiry: number;
  /** Why it gets no config: its version is too old or too new. */
  readonly refused: string | null;
}

/** One end of the connection, as the other end and the logs name it. */
export interface HybridNode {
  /** UUID. */
  readonly nodeId: string;
  readonly hostname: string;
  /** Of Sluicegate. */
  readonly version: string;
}

/** Times in milliseconds. */
export interface HybridTimes {
  /** Between two pings. Default 5,000. */
  readonly pingInterval: number;
  /** Without anything from the other end, the connection is closed after that. Default 15,000. */
  readonly silence: number;
  /** Maximum pause before the first attempt to reconnect. It is random, and doubles up to `maxPause`. Default 1,000. */
  readonly firstPause: number;
  /** Default 10,000. */
  readonly maxPause: number;
  /** Within that, data planes leave a control plane that stops, each at a random time. Default 2,000. */
  readonly leave: number;
}

/** Options of `startControlPlaneServer` in `server/start-control-plane-server.ts`. */
export interface ControlPlaneServerOptions extends HybridNode {
  /** Addresses to listen on; port 0 lets the system choose. */
  readonly listen: readonly HybridListenAddress[];
  readonly settings: HybridSettings;
  /** The store of the control plane. Data planes read and write it as `data-plane-rights.ts` allows. */
  readonly store: Store;
  readonly entities: EntityRegistry;
  /** Source of the config: the server listens to `publisher.onStored`, and sends its copy while the database is unavailable. */
  readonly publisher: Publisher;
  /** Recently looked-up rows, which answer lookups while the database is unavailable; null: the store is always queried. */
  readonly cached: CachedRows | null;
  readonly log: PublisherLog;
  /** Sockets of the predecessor, by `socketKey`. Default: none. */
  readonly inherited?: InheritedDescriptors;
  /** Maximum connected data planes. Default 10,000. */
  readonly maxDataPlanes?: number;
  readonly times?: Partial<HybridTimes>;
}

export interface HybridListenAddress {
  /** IP without brackets. */
  readonly ip: string;
  readonly port: number;
  /** Length of the accept queue. Default 511. */
  readonly backlog?: number;
  readonly reuseport?: boolean;
  readonly ipv6only?: boolean;
}

/** The listener of a control plane. */
export interface ControlPlaneServer {
  readonly addresses: readonly { readonly ip: string; readonly port: number }[];
  /** For a successor. */
  readonly sockets: readonly ListeningSocket[];
  /** Connected ones, and those of the last ten minutes that were refused because of their version. */
  dataPlanes(): readonly ConnectedDataPlane[];
  /** New certificates from now on; connections continue. Throws when they cannot be used; nothing has changed then. */
  setTls(settings: Pick<HybridSettings, 'cert' | 'key' | 'ca'>): void;
  /** Accepts no more connections, waits a bounded time until the data planes have left, and closes everything. */
  close(): Promise<void>;
}

/** Options of `openDataPlaneStore` in `client/open-data-plane-store.ts`. */
export interface DataPlaneStoreOptions extends HybridNode {
  readonly settings: HybridSettings;
  readonly entities: EntityRegistry;
  readonly log: PublisherLog;
  /**
   * Position of the config that the node starts with (`Publisher.resume`): it receives only what has changed since. Null: it has none,
   * and receives everything.
   */
  readonly position: FeedPosition | null;
  readonly times?: Partial<HybridTimes>;
}

/**
 * The store of a data plane: `kind` is `control_plane`. It connects when it is opened, and stays connected until it is closed. Every
 * function rejects with a `StoreError` `unavailable` without a connection, except that pushed changes can still be read. Functions
 * that no data plane needs (audit, history, `writeRows`) reject with a `TypeError`.
 */
export interface DataPlaneStore extends Store {
  /** The control plane that it is connected to: `cp.internal:8005`; null: none. */
  readonly connectedTo: string | null;
  /** When it last knew that it has every change, milliseconds since the epoch; 0: never. */
  readonly currentAt: number;
  /** Reports the version that all workers have, which `ControlPlaneServer.dataPlanes` shows. */
  acknowledge(version: number): void;
  /** New certificates for the next connection. Throws when they cannot be used; nothing has changed then. */
  setTls(settings: Pick<HybridSettings, 'cert' | 'key' | 'ca'>): void;
}
