import type { CodeProblem } from '../development/code-problem.ts';
import type { DevelopmentBoot } from '../development/development-boot.ts';
import type { Row } from '../entities/entity.ts';
import type { Call, CallResult, TouchedRow } from '../lookup/calls.ts';
import type { PluginCode } from '../plugin-loader/code/plugin-code.ts';
import type { LogLevel, Settings } from '../settings/settings.ts';
import type { InheritedDescriptors, ListeningSocket } from '../sockets/listening-sockets.ts';
import type { RecordingOptions, TrafficMessage } from '../traffic/traffic-record.ts';
import type { UsageName } from '../usage/usage-name.ts';
import type { AddressZoneMemory } from '../zones/address-zone.ts';
import type { NameChanges } from './name-changes.ts';
import type { ObserveCodeMessage, PluginCodeAppliedMessage, PluginCodeMessage } from './plugin-code.ts';
import type { AddressChanges } from './upstream-addresses.ts';
import type { ZoneChanges } from './zone-changes.ts';

export type { ZoneChanges } from './zone-changes.ts';

/** Entities that the data plane routes by. Consumers and credentials are looked up by key instead. */
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

/** A change of the config, or all of it (`full`: removes what it does not contain). Rows are as stored. */
export interface SnapshotDelta {
  readonly version: number;
  readonly full: boolean;
  readonly upserts: Readonly<Partial<Record<SnapshotEntity, readonly Row[]>>>;
  readonly removes: Readonly<Partial<Record<SnapshotEntity, readonly string[]>>>;
  /** Rows that changed, of entities that are looked up by key. */
  readonly touched?: readonly TouchedRow[];
  /** All cached lookups may be out of date. */
  readonly invalidateAll?: boolean;
}

/** An entity that could not be part of the snapshot; it is omitted and the rest goes live. */
export interface SnapshotFailure {
  readonly entity: SnapshotEntity;
  readonly id: string;
  readonly reason: string;
}

/** The first message to a data-plane worker. */
export interface WorkerBoot {
  /** Counts from 0; a worker that replaces another has the same number. */
  readonly worker: number;
  readonly nodeId: string;
  /** Without the secrets that only the control plane needs; every port is resolved. */
  readonly settings: Settings;
  /** Directory to which relative names of plugins refer. */
  readonly baseDirectory: string;
  /** Recorded code of users' plugins, which is loaded instead of their files. */
  readonly code: readonly PluginCode[];
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
  /** The shared state of backend addresses. */
  readonly addresses: AddressZoneMemory;
  /** The control plane proves with it that it sends a request for a caller of the Admin API. */
  readonly requestKey: string;
  /** Keys of TLS session tickets. */
  readonly ticketKeys: Uint8Array;
  /** Memory in which workers count requests for analytics, by worker number; empty: disabled. */
  readonly usage: readonly SharedArrayBuffer[];
  /** Shared memory in which all workers count finished requests (usage/request-meter.ts). */
  readonly meter: SharedArrayBuffer;
  /** Shared memory in which each worker counts what its plugins did (zones/plugin-meter.ts). */
  readonly pluginMeter: SharedArrayBuffer;
  /** Descriptors of sockets that listen already, for this worker to accept on. */
  readonly inherited: InheritedDescriptors;
  /** Only with `sluicegate dev`. */
  readonly development?: DevelopmentBoot;
}

/** Settings that a worker applies while it runs. */
export type SettingsChange = Partial<Pick<Settings, 'trustedIps' | 'sslCert' | 'sslCertKey'>>;

export type ToWorker =
  /** The whole config as JSON of a `SnapshotDelta`; the first message. A string is copied far faster than objects. */
  | {
      readonly type: 'config';
      readonly json: string;
      readonly zones: ZoneChanges;
      readonly addresses: AddressChanges;
    }
  | {
      readonly type: 'delta';
      /** A `SnapshotDelta`, serialised once for all workers. */
      readonly json: string;
      /** It is a piece of a large change, and more follow: nothing of it takes effect before the last piece. */
      readonly more?: true;
      /** With the last piece. */
      readonly zones?: ZoneChanges;
      readonly addresses?: AddressChanges;
    }
  /** The names of targets have other addresses now. */
  | { readonly type: 'addresses'; readonly addresses: AddressChanges }
  /** The host names of services have. */
  | { readonly type: 'names'; readonly names: NameChanges }
  /** The answer to a `call`. */
  | { readonly type: 'answer'; readonly id: number; readonly result: CallResult }
  /**
   * For `delay` milliseconds asks clients to reconnect; then stops accepting, finishes what is in flight within
   * `timeout` milliseconds, closes and exits.
   */
  | { readonly type: 'drain'; readonly delay: number; readonly timeout: number }
  /** Another process accepts on the same sockets: stop accepting at once, finish within `timeout` milliseconds and exit. */
  | { readonly type: 'hand-over'; readonly timeout: number }
  /** Count requests in this half of the memory from now on. */
  | { readonly type: 'usage-switch'; readonly serial: number; readonly half: 0 | 1 }
  /** Record traffic from now on; null: record none. */
  | { readonly type: 'record-traffic'; readonly recording: RecordingOptions | null }
  /** Records of so many characters have arrived. */
  | { readonly type: 'traffic-taken'; readonly characters: number }
  | PluginCodeMessage
  | ObserveCodeMessage
  | { readonly type: 'reopen-logs' }
  | { readonly type: 'settings'; readonly settings: SettingsChange }
  | { readonly type: 'ticket-keys'; readonly keys: Uint8Array }
  | { readonly type: 'log-level'; readonly level: LogLevel }
  /** With `sluicegate dev`: the plugins whose newest code cannot be used. */
  | { readonly type: 'development'; readonly problems: readonly CodeProblem[] };

/** Passive health checks have changed the health of an address. */
export interface HealthMessage {
  readonly type: 'health';
  readonly upstreamId: string;
  readonly slot: number;
  readonly healthy: boolean;
  readonly reason: string;
}

/** The worker has switched: the other half is no longer written. `names`: of ids that are new. */
export interface UsageSwitchedMessage {
  readonly type: 'usage-switched';
  /** Serial of the message that requested it; 0: the worker ends. */
  readonly serial: number;
  readonly names: readonly UsageName[];
}

/** `instance`: id of the plugin instance, for the names of `limitCounts`; '' for others, which are counted by plugin. */
export type PluginCount = readonly [plugin: string, name: string, by: number, instance: string];

/** Names of counts that mean that a limit was hit. */
export const limitCounts: ReadonlySet<string> = new Set(['rejected', 'delayed']);

export type FromWorker =
  /** Listens on these ports and has applied the first snapshot. */
  | { readonly type: 'ready'; readonly ports: readonly number[]; readonly sockets: readonly ListeningSocket[] }
  /** The config of this version is in effect. `failures` are all entities that are invalid now. */
  | { readonly type: 'ack'; readonly version: number; readonly failures: readonly SnapshotFailure[] }
  | {
      readonly type: 'log';
      readonly level: LogLevel;
      readonly message: string;
      readonly fields: Readonly<Record<string, unknown>>;
    }
  /** A call of the control plane; it answers with the same id. */
  | { readonly type: 'call'; readonly id: number; readonly call: Call }
  | HealthMessage
  | UsageSwitchedMessage
  /** Counts of plugins since the last message. */
  | { readonly type: 'counts'; readonly counts: readonly PluginCount[] }
  | TrafficMessage
  | PluginCodeAppliedMessage
  /**
   * The heap stays nearly full after collections: the worker rejects all requests and requests its replacement. Bytes.
   */
  | { readonly type: 'heap-full'; readonly used: number }
  /** The worker cannot continue and is about to exit. One line that says why. */
  | { readonly type: 'fatal'; readonly message: string };
