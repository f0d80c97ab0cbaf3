import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import type { Settings } from '../../shared/settings/settings.ts';
import type { InheritedDescriptors } from '../../shared/sockets/listening-sockets.ts';
import type { AddressZone } from '../../shared/zones/address-zone.ts';
import type { RuntimeTarget } from '../balancer/runtime-target.ts';
import type { RuntimeUpstream } from '../snapshot/runtime.ts';
import type { StreamSnapshot } from '../snapshot/runtime-stream.ts';
import type { WorkerResolver } from '../upstream/worker-resolver.ts';

/** What the streams of a worker share. */
export interface StreamParts {
  readonly settings: Settings;
  /** Holds the current snapshot. A stream keeps the service that it began with. */
  readonly snapshot: { readonly current: StreamSnapshot };
  /** This worker's row of the counters. */
  readonly counters: Float64Array;
  readonly log: PluginLogger;
  readonly names: WorkerResolver;
  readonly zone: AddressZone;
  /** Keys of session tickets, shared with the other workers. */
  readonly ticketKeys: Uint8Array;
  /** Descriptors of sockets that listen already. */
  readonly inherited: InheritedDescriptors;
  /** Receives the outcome of attempts, for the health of addresses. */
  readonly reports: {
    connected(upstream: RuntimeUpstream, target: RuntimeTarget): void;
    failed(upstream: RuntimeUpstream, target: RuntimeTarget, timedOut: boolean): void;
  };
}
