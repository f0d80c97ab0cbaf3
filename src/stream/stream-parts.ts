import type { AddressZone } from '../balancer/address-zone.ts';
import type { PluginLogger } from '../plugin-sdk/define-plugin.ts';
import type { Settings } from '../settings/settings.ts';
import type { RuntimeTarget, RuntimeUpstream } from '../snapshot/runtime.ts';
import type { StreamSnapshot } from '../snapshot/runtime-stream.ts';
import type { WorkerNames } from '../upstream/worker-names.ts';

/** What the streams of a worker work with. */
export interface StreamParts {
  readonly settings: Settings;
  /** Holds the snapshot of now. A stream keeps the service that it began with. */
  readonly snapshot: { readonly current: StreamSnapshot };
  /** This worker's row of the counters. */
  readonly counters: Float64Array;
  readonly log: PluginLogger;
  readonly names: WorkerNames;
  readonly zone: AddressZone;
  /** Keys of session tickets, shared with the other workers. */
  readonly ticketKeys: Uint8Array;
  /** Told how attempts went, for the health of addresses. */
  readonly reports: {
    connected(upstream: RuntimeUpstream, target: RuntimeTarget): void;
    failed(upstream: RuntimeUpstream, target: RuntimeTarget, timedOut: boolean): void;
  };
}
