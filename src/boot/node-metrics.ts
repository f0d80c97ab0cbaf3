import type { MetricsFacts } from '../admin/contract.ts';
import { MetricsRegistry, type MetricsRegistryOptions } from '../observability/metrics/registry.ts';
import type { UpstreamState } from '../plugin-sdk/metrics.ts';
import type { AddressBook } from '../snapshot/address-book.ts';
import type { NodeHealth } from './node-health.ts';

export interface NodeMetricsOptions extends Omit<MetricsRegistryOptions, 'upstreams'> {
  readonly book: AddressBook;
  readonly health: NodeHealth;
}

/** The node's numbers: for `GET /metrics`, and for plugins that send them somewhere. */
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
