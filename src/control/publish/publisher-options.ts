import type { SnapshotDelta, ToWorker, ZoneChanges } from '../../shared/messages/messages.ts';
import type { AddressChanges } from '../../shared/messages/upstream-addresses.ts';
import type { ZoneRegistry } from '../../shared/zones/zone-registry.ts';
import type { ChangeBatch, FeedPosition, Store } from '../store/store.ts';
import type { AddressBook } from './address-book.ts';

/** The first config of a worker. */
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

/** What the publisher has read from the store. */
export type StoredEvent =
  /** In the order of the store, without gaps; never a part of a transaction. */
  | { readonly kind: 'changes'; readonly batch: ChangeBatch }
  /** All of it. `changed`: rows differ from those before. */
  | { readonly kind: 'config'; readonly position: FeedPosition; readonly changed: boolean };

export interface PublisherOptions {
  readonly store: Store;
  readonly workers: DeltaReceivers;
  readonly log: PublisherLog;
  /** Compares other cached rows with the store, before a whole comparison takes effect. Rejects when the store is unavailable. */
  readonly recheck?: () => Promise<void>;
  /** Receives each change before the workers do. */
  readonly onDelta?: (delta: SnapshotDelta) => void;
  /** Creates the shared zones that plugins declare. */
  readonly zones?: ZoneRegistry;
  /** Resolves the targets of upstreams. */
  readonly addresses?: AddressBook;
  /** Maximum wait for workers to apply a change, in milliseconds. Default 3000: clients time out after 10 s or more. */
  readonly ackTimeout?: number;
  /** Milliseconds until the config is compared again after the database was restored. Default 5000. */
  readonly restorePause?: number;
}
