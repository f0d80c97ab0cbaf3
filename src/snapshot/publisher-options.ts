import type { AddressChanges } from '../balancer/upstream-addresses.ts';
import type { Store } from '../store/store.ts';
import type { SnapshotDelta, ToWorker, ZoneChanges } from '../workers/messages.ts';
import type { ZoneRegistry } from '../zones/zone-registry.ts';
import type { AddressBook } from './address-book.ts';

/** What a worker begins with. */
export interface WorkerConfig {
  /** A full `SnapshotDelta`. */
  readonly json: string;
  readonly zones: ZoneChanges;
  readonly addresses: AddressChanges;
}

/** The data plane, as the publisher needs it. */
export interface DeltaReceivers {
  configure(config: () => WorkerConfig): void;
  broadcast(message: ToWorker): void;
  settled(version: number, timeout: number): Promise<boolean>;
  /** Numbers of the workers that do not have this version yet. */
  lagging(version: number): readonly number[];
}

export interface PublisherLog {
  log(level: 'notice' | 'warn' | 'error', message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface PublisherOptions {
  readonly store: Store;
  readonly workers: DeltaReceivers;
  readonly log: PublisherLog;
  /** Compares with the store what else is kept of it, before a whole comparison takes effect. Rejects when the store is away. */
  readonly recheck?: () => Promise<void>;
  /** Told of each change before the workers are. */
  readonly onDelta?: (delta: SnapshotDelta) => void;
  /** Makes the shared tables that plugins ask for. */
  readonly zones?: ZoneRegistry;
  /** Finds out where the targets of upstreams are. */
  readonly addresses?: AddressBook;
  /** Longest wait for workers to apply a change, in milliseconds. Default 3000: clients give up after 10 s or more. */
  readonly patience?: number;
  /** Milliseconds until the config is compared again after the database was restored. Default 5000. */
  readonly restorePause?: number;
}
