import type { MetricsFacts } from '../../control/admin/contract.ts';
import { MetricsRegistry, type MetricsRegistryOptions } from '../../control/metrics/registry.ts';
import type { AddressBook } from '../../control/publish/address-book.ts';
import type { UpstreamState } from '../../plugin-sdk/metrics.ts';
import type { NodeHealth } from '../addresses/node-health.ts';

export interface NodeMetricsOptions extends Omit<MetricsRegistryOptions, 'upstreams'> {
  readonly book: AddressBook;
  readonly health: NodeHealth;
}

/** The metrics of the node: for `GET /metrics`, and for plugins that send them to a receiver. */
export class NodeMetrics extends MetricsRegistry implements MetricsFacts {
  constructor({ book, health, ...options }: NodeMetricsOptions) {
    super({ ...options, upstreams: () => upstreamStates(book, health) });
  }

  enabled(): boolean {
    return this.isInUse('prometheus');
  }
}

function* upstreamStates(book: AddressBook, health: NodeHealth): Generator<UpstreamState> {
  for (const { upstreamId, upstreamName } of book.list()) {
    const state = health.stateOf(upstreamId);
    if (state !== null) yield { name: upstreamName, checked: state.checked, targets: state.targets };
  }
}
