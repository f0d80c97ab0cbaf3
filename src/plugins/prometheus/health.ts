import { isIP } from 'node:net';
import type { PluginMetricsTools, ScalarFamily, ScalarSeries } from '../../plugin-sdk/index.ts';

const states = ['dns_error', 'healthchecks_off', 'healthy', 'unhealthy'] as const;
type State = (typeof states)[number];

/** One series for each state that an address can have: 1 for the one that it has, 0 for the others. */
export function healthFamily(tools: PluginMetricsTools): ScalarFamily {
  return {
    name: 'kong_upstream_target_health',
    help: 'Health of the targets of upstreams, 1 for the state that each is in',
    type: 'gauge',
    labelNames: ['upstream', 'target', 'address', 'state', 'subsystem'],
    series: { [Symbol.iterator]: () => healthSeries(tools) },
  };
}

function* healthSeries(tools: PluginMetricsTools): Generator<ScalarSeries> {
  for (const { name, checked, targets } of tools.upstreams()) {
    const seen = new Set<string>();
    for (const { host, port, addresses } of targets) {
      const target = hostPort(host, port);
      if (addresses.length === 0 && !seen.has(target)) {
        seen.add(target);
        yield* stateSeries(name, target, '', 'dns_error');
      }
      for (const { ip, port: addressPort, healthy } of addresses) {
        const address = hostPort(ip, addressPort);
        // A target may be there twice, and a name may have an address twice.
        const key = `${target} ${address}`;
        if (seen.has(key)) continue;
        seen.add(key);
        yield* stateSeries(name, target, address, checked ? (healthy ? 'healthy' : 'unhealthy') : 'healthchecks_off');
      }
    }
  }
}

function* stateSeries(upstream: string, target: string, address: string, current: State): Generator<ScalarSeries> {
  for (const state of states) {
    yield { labels: [upstream, target, address, state, 'http'], value: state === current ? 1 : 0 };
  }
}

function hostPort(host: string, port: number): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
