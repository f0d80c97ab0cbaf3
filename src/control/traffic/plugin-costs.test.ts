import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { PluginCostReader } from './plugin-costs.ts';
import { type KeptRecord, TrafficRing } from './traffic-ring.ts';

type Phases = Readonly<Record<string, number | null>>;

/** A request with these plugins: id, name, and milliseconds by phase. */
function recorded(ring: TrafficRing, at: string, plugins: readonly (readonly [string, string, Phases])[] | null): void {
  const shown = plugins?.map(([id, name, phases]) => ({
    id,
    name,
    phases: Object.entries(phases).map(([phase, ms]) => ({ phase, ms })),
  }));
  ring.add([JSON.stringify({ id: at, at }), JSON.stringify({ plugins: shown ?? null }), '']);
}

const read = (ring: TrafficRing) => new PluginCostReader().read(ring.walk('desc', null));

describe('the cost of plugins', () => {
  it('is summed up by plugin, phase and instance', async () => {
    const ring = new TrafficRing(1_000, 1e9);
    for (let at = 1; at <= 100; at++) {
      const time = new Date(at * 1_000).toISOString();
      recorded(ring, time, [
        [at % 2 === 0 ? 'a' : 'b', 'key-auth', { access: at / 1_000, header_filter: 0.001 }],
        ['c', 'cors', at === 7 ? { access: null } : {}],
        ['d', 'acl', at === 1 ? { access: 2.5 } : {}],
      ]);
    }
    recorded(ring, '1990-01-01T00:00:00.000Z', null);
    assert.deepEqual(await read(ring), {
      data: [
        {
          plugin: 'acl',
          samples: 1,
          p50: 2_500,
          p99: 2_500,
          phases: { access: { p50: 2_500, p99: 2_500 } },
          instances: [{ id: 'd', samples: 1, p50: 2_500, p99: 2_500 }],
        },
        {
          plugin: 'key-auth',
          samples: 100,
          p50: 51,
          p99: 100,
          phases: { access: { p50: 50, p99: 99 }, header_filter: { p50: 1, p99: 1 } },
          instances: [
            { id: 'a', samples: 50, p50: 51, p99: 101 },
            { id: 'b', samples: 50, p50: 50, p99: 100 },
          ],
        },
      ],
      requests: 100,
      from: '1970-01-01T00:00:01.000Z',
      to: '1970-01-01T00:01:40.000Z',
    });
  });

  it('of no requests is empty', async () => {
    assert.deepEqual(await read(new TrafficRing(10, 1e6)), { data: [], requests: 0, from: null, to: null });
  });

  it('is that of the newest requests, and a record is parsed once', async () => {
    const ring = new TrafficRing(10_000, 1e9);
    for (let at = 0; at < 3_000; at++) {
      recorded(ring, String(at).padStart(4, '0'), [['a', 'key-auth', { access: at < 1_000 ? 9 : 1 }]]);
    }
    const reader = new PluginCostReader();
    const first = await reader.read(ring.walk('desc', null));
    assert.deepEqual([first.requests, first.from, first.to], [2_000, '1000', '2999']);
    assert.equal(first.data[0]?.p99, 1_000);
    const records = [...ring.walk('desc', null)];
    for (const record of records) (record as { explanation: KeptRecord['explanation'] }).explanation = Buffer.alloc(1);
    assert.deepEqual(await reader.read(records), first);
  });

  it('does not keep others waiting', async () => {
    const ring = new TrafficRing(10_000, 1e9);
    const many = Array.from({ length: 50 }, (_, at) => [`id-${at}`, `plugin-${at}`, { access: 1 }] as const);
    for (let at = 0; at < 2_000; at++) recorded(ring, String(at), many);
    let turns = 0;
    const count = setInterval(() => turns++, 0);
    const costs = await read(ring);
    clearInterval(count);
    assert.equal(costs.data.length, 50);
    assert.ok(turns > 5, String(turns));
  });
});
