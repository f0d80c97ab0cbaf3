import type { MetricFamily } from '../../plugin-sdk/metrics.ts';
import { Counter, sumCounter } from '../../shared/zones/counters.ts';
import type { ZoneFacts } from '../admin/contract.ts';
import type { CoreFacts } from './core-facts.ts';
import { gauge, type Point } from './families.ts';
import { withTimeout } from './with-timeout.ts';

/** Timeout in milliseconds for an answer of the store or a worker. */
const answerTimeout = 1000;

/** Kong's metrics of a node, with Kong's names and texts; docs/metrics.md says what each means here. */
export async function kongFamilies(facts: CoreFacts): Promise<readonly MetricFamily[]> {
  const [memory, reachable] = await Promise.all([
    withTimeout(facts.node.memory(), answerTimeout, () => []),
    isReachable(facts),
  ]);
  return [...trafficFamilies(facts), ...memoryFamilies(facts, memory), ...stateFamilies(facts, reachable)];
}

function trafficFamilies({ node, counters }: CoreFacts): readonly MetricFamily[] {
  const { nodeId } = node;
  const http = node.connections();
  const streams = sumCounter(counters, Counter.streamsAccepted);
  const openStreams = sumCounter(counters, Counter.streamsActive);
  const connections: [state: string, http: number, stream: number][] = [
    ['accepted', http.accepted - streams, streams],
    ['active', http.active - openStreams, openStreams],
    ['handled', http.handled - streams, streams],
    ['reading', http.reading, 0],
    ['total', http.totalRequests, streams],
    ['waiting', http.waiting, 0],
    ['writing', http.writing - openStreams, openStreams],
  ];
  return [
    gauge(
      'kong_nginx_connections_total',
      'Number of connections by subsystem',
      ['node_id', 'subsystem', 'state'],
      ['http', 'stream'].flatMap((subsystem, at) =>
        connections.map(([state, ...counts]): Point => [nodeId, subsystem, state, Math.max(0, counts[at] ?? 0)]),
      ),
    ),
    gauge(
      'kong_nginx_requests_total',
      'Number of requests total',
      ['node_id', 'subsystem'],
      [
        [nodeId, 'http', http.totalRequests],
        [nodeId, 'stream', streams],
      ],
    ),
  ];
}

function memoryFamilies(
  { node }: CoreFacts,
  memory: Awaited<ReturnType<CoreFacts['node']['memory']>>,
): readonly MetricFamily[] {
  const { nodeId, pids } = node;
  const zones = zoneSizes(node.zones());
  const labels = ['node_id', 'shared_dict', 'kong_subsystem'];
  return [
    gauge(
      'kong_memory_workers_lua_vms_bytes',
      'Allocated bytes in worker Lua VM',
      ['node_id', 'pid', 'kong_subsystem'],
      memory.map(
        ({ worker, heapUsed }, at): Point => [nodeId, String(pids.workers[at] ?? `worker ${worker}`), 'http', heapUsed],
      ),
    ),
    gauge(
      'kong_memory_lua_shared_dict_bytes',
      'Allocated slabs in bytes in a shared_dict',
      labels,
      zones.map(({ name, used }): Point => [nodeId, name, 'http', used]),
    ),
    gauge(
      'kong_memory_lua_shared_dict_total_bytes',
      'Total capacity in bytes of a shared_dict',
      labels,
      zones.map(({ name, bytes }): Point => [nodeId, name, 'http', bytes]),
    ),
  ];
}

function stateFamilies({ node }: CoreFacts, reachable: boolean): readonly MetricFamily[] {
  const pending = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  return [
    gauge('kong_datastore_reachable', 'Datastore reachable from Kong, 0 is unreachable', [], [[reachable ? 1 : 0]]),
    gauge('kong_node_info', 'Kong Node metadata information', ['node_id', 'version'], [[node.nodeId, node.version, 1]]),
    gauge(
      'kong_nginx_timers',
      'Number of nginx timers',
      ['state'],
      [
        ['pending', pending],
        ['running', 0],
      ],
    ),
  ];
}

/** By plugin and name: a zone whose size was changed exists twice for a moment. */
function zoneSizes(zones: readonly ZoneFacts[]) {
  const sizes = new Map<string, { readonly name: string; bytes: number; used: number }>();
  for (const zone of zones) {
    const name = `${zone.plugin}/${zone.name}`;
    const size = sizes.get(name) ?? { name, bytes: 0, used: 0 };
    sizes.set(name, size);
    size.bytes += zone.bytes;
    size.used += usedBytes(zone);
  }
  return [...sizes.values()];
}

/** An unknown value counts as used. */
function usedBytes({ bytes, taken, slots, used }: ZoneFacts): number {
  if (taken !== undefined) return taken;
  return slots === undefined || slots === 0 ? bytes : Math.round((bytes * (used ?? 0)) / slots);
}

function isReachable({ ping }: CoreFacts): Promise<boolean> {
  const answered = ping().then(
    () => true,
    () => false,
  );
  return withTimeout(answered, answerTimeout, () => false);
}
