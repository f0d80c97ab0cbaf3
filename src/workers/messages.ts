import type { Row } from '../entities/entity.ts';
import type { Settings } from '../settings/settings.ts';

/** Entities that the data plane routes by. Consumers and credentials are asked for by key instead. */
export type SnapshotEntity =
  | 'services'
  | 'routes'
  | 'plugins'
  | 'upstreams'
  | 'targets'
  | 'certificates'
  | 'snis'
  | 'ca_certificates';

/** A change of the config, or all of it (`full`: forget what is not named). Rows are as stored. */
export interface SnapshotDelta {
  readonly version: number;
  readonly full: boolean;
  readonly upserts: Readonly<Partial<Record<SnapshotEntity, readonly Row[]>>>;
  readonly removes: Readonly<Partial<Record<SnapshotEntity, readonly string[]>>>;
}

/** An entity that could not be made part of the snapshot; it is left out and the rest goes live. */
export interface SnapshotFailure {
  readonly entity: SnapshotEntity;
  readonly id: string;
  readonly reason: string;
}

/** `workerData` of a data-plane worker. */
export interface WorkerBoot {
  readonly worker: number;
  readonly nodeId: string;
  readonly settings: Settings;
  /** Shared memory of the zones (zones/): counters of all workers. */
  readonly zones: SharedArrayBuffer;
}

export type ToWorker =
  | { readonly type: 'delta'; readonly delta: SnapshotDelta }
  /** Stop accepting, finish what is in flight within `timeout` milliseconds, close, exit. */
  | { readonly type: 'drain'; readonly timeout: number }
  | { readonly type: 'reopen-logs' }
  | { readonly type: 'log-level'; readonly level: string };

export type FromWorker =
  /** Listens on these ports and has applied the first snapshot. */
  | { readonly type: 'ready'; readonly ports: readonly number[] }
  | { readonly type: 'ack'; readonly version: number; readonly failures: readonly SnapshotFailure[] }
  | {
      readonly type: 'log';
      readonly level: string;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  | { readonly type: 'fatal'; readonly message: string }
  | { readonly type: 'drained' };
