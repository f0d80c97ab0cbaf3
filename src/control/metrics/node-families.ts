import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import { Counter, type CounterName, sumCounter } from '../../shared/zones/counters.ts';
import type { CoreFacts, WorkerLoop } from './core-facts.ts';
import { counter, gauge, type Point } from './families.ts';
import { pluginFamilies } from './plugin-families.ts';

/** Metrics that Kong does not have. */
export async function nodeFamilies(facts: CoreFacts): Promise<readonly MetricFamily[]> {
  return [
    ...trafficFamilies(facts),
    ...workerFamilies(facts),
    ...configFamilies(facts),
    ...pluginFamilies(facts.plugins()),
    ...zoneFamilies(facts),
    ...analyticsFamilies(facts),
    ...processFamilies(facts),
    ...(await dnsFamilies(facts)),
  ];
}

const trafficCounters: readonly (readonly [name: string, counter: CounterName, help: string])[] = [
  ['sluicegate_bad_requests_total', 'badRequests', 'Requests refused as malformed, before routing'],
  ['sluicegate_shed_requests_total', 'shed', 'Requests refused because of overload'],
  [
    'sluicegate_http2_refused_connections_total',
    'http2Refused',
    'HTTP/2 connections refused or ended because the budget of their address was used up',
  ],
  ['sluicegate_retries_total', 'retries', 'Further attempts at backends'],
  ['sluicegate_upstream_connections_opened_total', 'upstreamOpened', 'Connections to backends that were opened'],
  ['sluicegate_upstream_connections_failed_total', 'upstreamFailed', 'Attempts at backends that failed'],
  ['sluicegate_upstream_requests_reused_total', 'upstreamReused', 'Requests sent on a connection of the pool'],
  ['sluicegate_received_bytes_total', 'bytesReceived', 'Bytes of bodies received from clients'],
  ['sluicegate_sent_bytes_total', 'bytesSent', 'Bytes of bodies sent to clients'],
  ['sluicegate_log_lines_dropped_total', 'logDropped', 'Lines of logs that could not be written'],
];

function trafficFamilies({ counters, linesLost, inFlight }: CoreFacts): readonly MetricFamily[] {
  return [
    ...trafficCounters.map(([name, which, help]) =>
      counter(name, help, [], [[sumCounter(counters, Counter[which]) + (which === 'logDropped' ? linesLost() : 0)]]),
    ),
    gauge('sluicegate_requests_in_flight', 'Requests that have begun and are not answered yet', [], [[inFlight()]]),
  ];
}

function workerFamilies({ workers, restarts, stuck }: CoreFacts): readonly MetricFamily[] {
  const { wanted, running } = workers();
  const loop = (state: string, read: (loop: WorkerLoop) => number): Point[] =>
    running.map((one): Point => [String(one.worker), state, read(one) / 1000]);
  return [
    gauge(
      'sluicegate_workers',
      'Worker threads by state',
      ['state'],
      [
        ['running', running.length],
        ['wanted', wanted],
      ],
    ),
    counter('sluicegate_worker_restarts_total', 'Workers that died and were replaced', [], [[restarts()]]),
    counter(
      'sluicegate_worker_stuck_total',
      'Workers that were replaced because they did not respond, or because their heap stayed full',
      [],
      [[stuck()]],
    ),
    counter(
      'sluicegate_worker_loop_seconds_total',
      'Time that the event loop of a worker was active or idle; the rate of `active` is how busy it is',
      ['worker', 'state'],
      [...loop('active', ({ active }) => active), ...loop('idle', ({ idle }) => idle)],
    ),
    gauge(
      'sluicegate_worker_loop_delay_seconds',
      'How late the timers of a worker run, 99th percentile of the last 5 s',
      ['worker'],
      running.map(({ worker, delay }): Point => [String(worker), delay / 1000]),
    ),
  ];
}

function configFamilies({ config, node }: CoreFacts): readonly MetricFamily[] {
  const { version, failures, age } = config();
  const events = Object.entries(node.pluginCounts()).flatMap(([plugin, counts]) =>
    Object.entries(counts).map(([event, count]): Point => [plugin, event, count]),
  );
  return [
    gauge('sluicegate_config_version', 'Version of the config that the workers have been sent', [], [[version]]),
    gauge(
      'sluicegate_config_age_seconds',
      'Time since the node last knew that it has the whole config',
      [],
      age === null ? [] : [[age / 1000]],
    ),
    gauge('sluicegate_config_failures', 'Entities that could not be built into the config', [], [[failures]]),
    counter(
      'sluicegate_plugin_events_total',
      'What plugins count: failures, hits, decisions; the README of each plugin names them',
      ['plugin', 'event'],
      events,
    ),
  ];
}

function zoneFamilies({ node }: CoreFacts): readonly MetricFamily[] {
  const zones = new Map<string, { readonly labels: readonly [string, string]; [field: string]: unknown }>();
  const fields = ['used', 'evictions', 'hits', 'misses'] as const;
  for (const zone of node.zones()) {
    const key = `${zone.plugin}/${zone.name}`;
    const sums = zones.get(key) ?? { labels: [zone.plugin, zone.name] as const };
    zones.set(key, sums);
    for (const field of fields) {
      const value = zone[field];
      if (value !== undefined) sums[field] = Number(sums[field] ?? 0) + value;
    }
  }
  const points = (field: (typeof fields)[number]): Point[] =>
    [...zones.values()].flatMap(({ labels, [field]: value }) =>
      typeof value === 'number' ? [[...labels, value] as Point] : [],
    );
  const labels = ['plugin', 'zone'];
  return [
    gauge(
      'sluicegate_zone_entries',
      'Entries of a zone: keys, cached answers, places of series',
      labels,
      points('used'),
    ),
    counter('sluicegate_zone_evictions_total', 'Entries that made room for others', labels, points('evictions')),
    counter('sluicegate_zone_hits_total', 'Lookups of a cache that found an entry', labels, points('hits')),
    counter('sluicegate_zone_misses_total', 'Lookups of a cache that found no entry', labels, points('misses')),
  ];
}

function analyticsFamilies({ analytics }: CoreFacts): readonly MetricFamily[] {
  const state = analytics();
  const points = (value: number | undefined): readonly Point[] => (value === undefined ? [] : [[value]]);
  return [
    counter(
      'sluicegate_analytics_dropped_requests_total',
      'Requests that are missing in analytics',
      [],
      points(state?.dropped),
    ),
    gauge(
      'sluicegate_analytics_waiting_series',
      'Series of analytics that the store has not taken yet',
      [],
      points(state?.waiting),
    ),
  ];
}

/** With the names that Prometheus exporters use. */
function processFamilies({ descriptors }: CoreFacts): readonly MetricFamily[] {
  const { open, limit, exhaustions } = descriptors();
  const points = (value: number | null): readonly Point[] => (value === null ? [] : [[value]]);
  const { user, system } = process.cpuUsage();
  const started = Math.round(performance.timeOrigin) / 1000;
  return [
    gauge('process_open_fds', 'Open file descriptors of the node', [], points(open)),
    gauge('process_max_fds', 'File descriptors that the node may have open', [], points(limit)),
    counter(
      'sluicegate_descriptor_exhaustions_total',
      'How often the node ran out of file descriptors',
      [],
      [[exhaustions]],
    ),
    counter('process_cpu_seconds_total', 'CPU time of the node, all threads', [], [[(user + system) / 1e6]]),
    gauge('process_resident_memory_bytes', 'Memory of the node, all threads', [], [[process.memoryUsage.rss()]]),
    gauge('process_start_time_seconds', 'When the node began, since the epoch', [], [[started]]),
  ];
}

async function dnsFamilies({ dns }: CoreFacts): Promise<readonly MetricFamily[]> {
  const { counts, size } = await dns();
  return [
    gauge('sluicegate_dns_names', 'Names in use', [], [[size]]),
    counter(
      'sluicegate_dns_events_total',
      'What name resolution counts, as `stats` of `GET /status/dns`',
      ['event'],
      Object.entries(counts).map(([event, count]): Point => [event, count]),
    ),
  ];
}
