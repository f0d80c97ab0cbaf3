import { freePort } from './free-port.ts';
import { startRedis, type TestRedis, type TestRedisOptions } from './redis.ts';
import { until } from './until.ts';

const slotCount = 16_384;

/** A Redis Cluster of masters without replicas, each with an equal part of the slots. */
export interface TestRedisCluster {
  readonly nodes: readonly TestRedis[];
  /** Moves a slot with all its keys to a node. `during` runs before the keys move, and before the slot does. */
  moveSlot(slot: number, to: TestRedis, during: () => Promise<void>): Promise<void>;
  slotOf(key: string): number;
  stop(): Promise<void>;
}

export async function startRedisCluster(options: TestRedisOptions = {}, size = 3): Promise<TestRedisCluster> {
  const busPorts: number[] = [];
  const nodes: TestRedis[] = [];
  for (let at = 0; at < size; at++) {
    const busPort = await freePort();
    busPorts.push(busPort);
    const cluster = ['--cluster-enabled', 'yes', '--cluster-port', String(busPort), '--cluster-node-timeout', '1000'];
    const tls = options.tls === undefined ? [] : ['--tls-cluster', 'yes'];
    // The other nodes continue while one is down.
    const partial = ['--cluster-require-full-coverage', 'no'];
    nodes.push(
      await startRedis({ ...options, arguments: [...cluster, ...partial, ...tls, ...(options.arguments ?? [])] }),
    );
  }
  const firstSlot = (at: number): number => Math.floor((at * slotCount) / size);
  for (const [at, node] of nodes.entries()) {
    node.command('CLUSTER', 'ADDSLOTSRANGE', String(firstSlot(at)), String(firstSlot(at + 1) - 1));
    for (const [other, { host, port }] of nodes.entries()) {
      if (other > at) node.command('CLUSTER', 'MEET', host, String(port), String(busPorts[other]));
    }
  }
  const knowsAll = (node: TestRedis): boolean => {
    const info = node.command('CLUSTER', 'INFO');
    return info.includes('cluster_state:ok') && info.includes(`cluster_slots_ok:${slotCount}`);
  };
  await until(() => nodes.every(knowsAll), 20_000);
  const [first] = nodes as [TestRedis];
  const slotOf = (key: string): number => Number(first.command('CLUSTER', 'KEYSLOT', key));
  const owner = (slot: number): TestRedis =>
    nodes.find((node) => ownSlots(node).some(([from, to]) => slot >= from && slot <= to)) as TestRedis;
  return {
    nodes,
    slotOf,
    moveSlot: async (slot, to, during) => {
      const from = owner(slot);
      const [fromId, toId] = [from, to].map((node) => node.command('CLUSTER', 'MYID')) as [string, string];
      to.command('CLUSTER', 'SETSLOT', String(slot), 'IMPORTING', fromId);
      from.command('CLUSTER', 'SETSLOT', String(slot), 'MIGRATING', toId);
      await during();
      const keys = from.command('CLUSTER', 'GETKEYSINSLOT', String(slot), '1000').split('\n');
      for (const key of keys.filter((one) => one !== '')) {
        from.command('MIGRATE', to.host, String(to.port), key, '0', '5000');
      }
      await during();
      for (const node of [to, ...nodes]) node.command('CLUSTER', 'SETSLOT', String(slot), 'NODE', toId);
    },
    stop: async () => {
      for (const node of nodes) await node.stop();
    },
  };
}

function ownSlots(node: TestRedis): readonly (readonly [number, number])[] {
  const line =
    node
      .command('CLUSTER', 'NODES')
      .split('\n')
      .find((one) => one.includes('myself')) ?? '';
  return line
    .split(' ')
    .slice(8)
    .filter((part) => /^\d+(?:-\d+)?$/.test(part))
    .map((part) => {
      const [from = 0, to = from] = part.split('-').map(Number);
      return [from, to];
    });
}
