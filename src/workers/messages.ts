import type { AddressZoneMemory } from '../balancer/address-zone.ts';
import type { AddressChanges } from '../balancer/upstream-addresses.ts';
import type { Row } from '../entities/entity.ts';
import type { CallResult } from '../lookup/call-handler.ts';
import type { Call, TouchedRow } from '../lookup/questions.ts';
import type { UsageName } from '../observability/analytics/usage-recorder.ts';
import type { LogLevel, Settings } from '../settings/settings.ts';
import type { NameChanges } from '../upstream/worker-names.ts';

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

export const snapshotEntities: readonly SnapshotEntity[] = Object.freeze([
  'services',
  'routes',
  'plugins',
  'upstreams',
  'targets',
  'certificates',
  'snis',
  'ca_certificates',
]);

/** A change of the config, or all of it (`full`: forget what is not named). Rows are as stored. */
export interface SnapshotDelta {
  readonly version: number;
  readonly full: boolean;
  readonly upserts: Readonly<Partial<Record<SnapshotEntity, readonly Row[]>>>;
  readonly removes: Readonly<Partial<Record<SnapshotEntity, readonly string[]>>>;
  /** Rows that changed of entities that are asked for by key. */
  readonly touched?: readonly TouchedRow[];
  /** Everything that was asked for by key may be out of date. */
  readonly forgetAll?: boolean;
}

/** Zones by key (zones/zone-registry.ts) that a worker needs from now on, and those that it can let go. */
export interface ZoneChanges {
  readonly added: Readonly<Record<string, SharedArrayBuffer>>;
  readonly dropped: readonly string[];
}

/** An entity that could not be made part of the snapshot; it is left out and the rest goes live. */
export interface SnapshotFailure {
  readonly entity: SnapshotEntity;
  readonly id: string;
  readonly reason: string;
}

/** `workerData` of a data-plane worker. */
export interface WorkerBoot {
  /** Counts from 0; a worker that replaces another has its number. */
  readonly worker: number;
  readonly nodeId: string;
  /** Without the secrets that only the control plane needs; every port is known by now. */
  readonly settings: Settings;
  /** Directory that relative names of plugins start from. */
  readonly baseDirectory: string;
  /** Directory of compiled code that is kept between starts; null: none. */
  readonly compileCache: string | null;
  /** Shared memory of the counters of all workers (zones/counters.ts). */
  readonly zones: SharedArrayBuffer;
  /** Shared memory that the watchdog reads (zones/worker-vitals.ts). */
  readonly vitals: SharedArrayBuffer;
  /** Bytes of heap that the worker may use. */
  readonly heapLimit: number;
  /** Marks of plugin instances whose `setup` did not return in another worker (zones/worker-vitals.ts). */
  readonly quarantine: readonly number[];
  /** What is known of backend addresses. */
  readonly addresses: AddressZoneMemory;
  /** Keys of TLS session tickets. */
  readonly ticketKeys: Uint8Array;
  /** Where workers count requests for analytics, by number of the worker; empty: they do not. */
  readonly usage: readonly SharedArrayBuffer[];
}

export type ToWorker =
  /** The whole config as JSON of a `SnapshotDelta`; the first message. A string is copied far faster than objects are. */
  | {
      readonly type: 'config';
      readonly json: string;
      readonly zones: ZoneChanges;
      readonly addresses: AddressChanges;
    }
  | {
      readonly type: 'delta';
      /** A `SnapshotDelta`, written once for all workers. */
      readonly json: string;
      readonly zones?: ZoneChanges;
      readonly addresses?: AddressChanges;
    }
  /** Names of targets have other addresses now. */
  | { readonly type: 'addresses'; readonly addresses: AddressChanges }
  /** Names of services have. */
  | { readonly type: 'names'; readonly names: NameChanges }
  /** The answer to a `call`. */
  | { readonly type: 'answer'; readonly id: number; readonly result: CallResult }
  /**
   * For `delay` milliseconds ask clients to reconnect; then stop accepting, finish what is in flight within `timeout`
   * milliseconds, close, exit.
   */
  | { readonly type: 'drain'; readonly delay: number; readonly timeout: number }
  /** Count requests in this half of the memory from now on. */
  | { readonly type: 'usage-turn'; readonly serial: number; readonly half: 0 | 1 }
  | { readonly type: 'reopen-logs' }
  | { readonly type: 'ticket-keys'; readonly keys: Uint8Array }
  | { readonly type: 'log-level'; readonly level: LogLevel };

/** An address has become healthy or unhealthy by what passed. */
export interface HealthMessage {
  readonly type: 'health';
  readonly upstreamId: string;
  readonly slot: number;
  readonly healthy: boolean;
  readonly reason: string;
}

/** The worker has turned: the other half is no longer written to. `names`: of ids that are new. */
export interface UsageTurnedMessage {
  readonly type: 'usage-turned';
  /** Of the message that asked for it; 0: the worker ends. */
  readonly serial: number;
  readonly names: readonly UsageName[];
}

export type FromWorker =
  /** Listens on these ports and has applied the first snapshot. */
  | { readonly type: 'ready'; readonly ports: readonly number[] }
  /** The config of this version is in effect. `failures` are all entities that are out of order now. */
  | { readonly type: 'ack'; readonly version: number; readonly failures: readonly SnapshotFailure[] }
  | {
      readonly type: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  /** Asks the control plane; it answers with the same id. */
  | { readonly type: 'call'; readonly id: number; readonly call: Call }
  | HealthMessage
  | UsageTurnedMessage
  /** What plugins counted since the last time: plugin, name, number. */
  | { readonly type: 'counts'; readonly counts: readonly (readonly [string, string, number])[] }
  /** The heap stays nearly full after collections: the worker refuses all requests and asks to be replaced. Bytes. */
  | { readonly type: 'heap-full'; readonly used: number }
  /** The worker cannot do its work and is about to exit. One line that says why. */
  | { readonly type: 'fatal'; readonly message: string };
