import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { SeenNode } from '../store/nodes.ts';
import { NodeList } from './node-list.ts';
import type { NodeReport } from './node-report.ts';

const position = { store: 's', version: 10, stamp: '' };

function reportOf(id: string, more: Partial<NodeReport> = {}): NodeReport {
  return {
    id,
    role: 'traditional',
    hostname: 'gw',
    address: '',
    version: '1.0.0',
    startedAt: 0,
    reportedAt: 50_000,
    config: { store: 's', version: 10, currentAt: 49_000, failures: 0 },
    load: { requests: 0, inFlight: 0, loopDelay: 0, shed: 0, workers: 1 },
    notReady: null,
    unhealthy: [],
    circuits: [],
    ...more,
  };
}

function listOf(now: number, nodes: readonly SeenNode[]): NodeList {
  return new NodeList({
    alone: false,
    store: { position: async () => position, readNodes: async () => ({ now, nodes }) },
    own: () => reportOf('own'),
    elapsed: () => 0,
  });
}

const seen = (report: NodeReport, seenAt: number): SeenNode => ({
  id: report.id,
  role: report.role,
  data: JSON.stringify(report),
  seenAt,
});

describe('the list of nodes', () => {
  it('marks nodes that have not reported for 15 s, and shows them last', async () => {
    const nodes = [seen(reportOf('a'), 84_999), seen(reportOf('b', { notReady: 'it is stopping' }), 90_000)];
    const { nodes: listed } = await listOf(100_000, nodes).read();
    assert.deepEqual(
      listed.map(({ report, state }) => [report.id, state]),
      [
        ['b', 'not ready'],
        ['own', 'ready'],
        ['a', 'silent'],
      ],
    );
  });

  it('counts versions, and the time by the clock of each node', async () => {
    const behind = { store: 's', version: 7, currentAt: 49_000, failures: 0 };
    const nodes = [
      seen(reportOf('a', { config: behind }), 99_000),
      seen(reportOf('b', { config: { ...behind, store: 'other' } }), 99_000),
      seen(reportOf('c', { config: null }), 99_000),
    ];
    const { nodes: listed } = await listOf(100_000, nodes).read();
    assert.deepEqual(
      listed.map(({ lag }) => lag),
      [{ versions: 3, milliseconds: 2000 }, null, null, { versions: 0, milliseconds: 0 }],
    );
  });

  it('leaves out what is no report, and accepts one of another version', async () => {
    const odd: readonly SeenNode[] = [
      { id: 'a', role: 'traditional', data: 'no JSON', seenAt: 0 },
      { id: 'b', role: 'traditional', data: 'null', seenAt: 0 },
      { id: 'c', role: 'traditional', data: '{"id":"c","config":null,"notReady":null,"new":1}', seenAt: 0 },
    ];
    const { total, nodes } = await listOf(1000, odd).read();
    assert.equal(total, 2);
    assert.equal(nodes.length, 2);
  });

  it('shows at most 1,000 nodes and how many there are', async () => {
    const many = Array.from({ length: 1500 }, (_, at) => seen(reportOf(`n${at}`), 1000));
    const { total, nodes } = await listOf(1000, many).read();
    assert.deepEqual([total, nodes.length], [1501, 1000]);
  });

  it('without a store shows what was read last, with its age, and the own entry as it is now', async () => {
    let available = true;
    let requests = 0;
    const list = new NodeList({
      alone: false,
      store: {
        position: async () => position,
        readNodes: async () => {
          if (!available) throw new Error('unavailable');
          return { now: 1000, nodes: [seen(reportOf('a'), 1000)] };
        },
      },
      own: () => reportOf('own', { load: { requests: requests++, inFlight: 0, loopDelay: 0, shed: 0, workers: 1 } }),
    });
    assert.equal((await list.read()).staleFor, null);
    available = false;
    const { staleFor, nodes } = await list.read();
    assert.ok(staleFor !== null && staleFor >= 0);
    assert.deepEqual(
      nodes.map(({ report }) => [report.id, report.load.requests]),
      [
        ['a', 0],
        ['own', 1],
      ],
    );
  });
});
