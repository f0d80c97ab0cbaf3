import type { Call, CallResult } from '../../shared/lookup/calls.ts';
import type {
  HealthMessage,
  PluginCount,
  SnapshotFailure,
  UsageSwitchedMessage,
  WorkerBoot,
} from '../../shared/messages/messages.ts';
import type { PluginCodeAppliedMessage } from '../../shared/messages/plugin-code.ts';
import type { PluginCode } from '../../shared/plugin-loader/code/plugin-code.ts';
import type { LogLevel } from '../../shared/settings/settings.ts';
import type { InheritedDescriptors } from '../../shared/sockets/listening-sockets.ts';
import type { TrafficMessage } from '../../shared/traffic/traffic-record.ts';
import type { PluginCall } from '../../shared/zones/worker-vitals.ts';
import type { ThreadSource } from './worker-threads.ts';

export interface SupervisorLog {
  log(level: LogLevel, message: string, fields?: Readonly<Record<string, unknown>>): void;
}

export interface SupervisorOptions {
  readonly boot: Omit<WorkerBoot, 'worker' | 'quarantine' | 'heapLimit' | 'inherited' | 'code'>;
  /** Code of users' plugins, for a worker that starts. */
  readonly code: () => readonly PluginCode[];
  readonly workers: number;
  /** The descriptors for a worker that starts. */
  readonly inherited: (worker: number) => InheritedDescriptors;
  /** Receives the starts and ends of workers. */
  readonly log: SupervisorLog;
  /** Receives the log lines of workers. */
  readonly workerLog: SupervisorLog;
  /** Fields for the log that name the call of a plugin. */
  readonly nameCall: (call: PluginCall) => Readonly<Record<string, unknown>>;
  /** All entities that some worker could not apply; called when that changes. */
  readonly onFailures: (failures: readonly SnapshotFailure[]) => void;
  /** Answers a worker; never rejects. */
  readonly onCall: (call: Call) => Promise<CallResult>;
  /** The passive checks of a worker changed the health of an address. */
  readonly onHealth: (change: HealthMessage) => void;
  /** What plugins of a worker counted. */
  readonly onCounts: (counts: readonly PluginCount[]) => void;
  /** A worker counts in the other half of its memory from now on. */
  readonly onUsageTurned: (worker: number, message: UsageSwitchedMessage) => void;
  /** What a worker has recorded of its traffic. */
  readonly onTraffic: (worker: number, message: TrafficMessage) => void;
  /** A worker uses other code of plugins, or could not. */
  readonly onPluginCode: (worker: number, message: PluginCodeAppliedMessage) => void;
  /** A worker has ended, and what it held of shared memory can be released. */
  readonly onExit: (worker: number) => void;
  /** Runs a function that starts a thread, with the priority of the workers. */
  readonly startThread: <T>(start: () => T) => T;
  /** Threads of the first workers, which load their code already; null: none. */
  readonly threads: ThreadSource | null;
}
