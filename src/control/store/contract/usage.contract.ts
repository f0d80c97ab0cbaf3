import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { UsageKey, UsageName, UsageQuery, UsageRow } from '../usage-store.ts';
import type { StoreBench } from './store-bench.ts';

const minute = 60_000;
/** Beyond what 32 bits hold. */
const noon = Date.UTC(2026, 5, 1, 12);

function row(fields: Partial<UsageRow> = {}): UsageRow {
  return {
    resolution: 'minute',
    start: noon,
    node: 'n1',
    route: 'r1',
    service: 's1',
    consumer: '',
    version: '',
    status: 200,
    data: '[1]',
    ...fields,
  };
}

function keyOf({ data: _, ...key }: UsageRow): UsageKey {
  return key;
}

const query: UsageQuery = { resolution: 'minute', from: noon, to: noon + 60 * minute, limit: 100 };
const name = (id: string, text: string, seen = noon): UsageName => ({ kind: 'route', id, name: text, seen });

export function registerUsageTests(bench: StoreBench): void {
  it('returns usage rows as they were written, hostile texts too', async () => {
    const store = await bench.fresh();
    const rows = [
      row(),
      row({ consumer: `o'neil "x" \\ {,}`, version: 'v1', status: 404, data: `["'\\u0000\n"]` }),
      row({ start: noon + minute, route: 'ü😀', data: '{}' }),
    ];
    await store.putUsage(rows, []);
    assert.deepEqual(await store.readUsage(query), rows);
  });

  it('replaces a usage row with the same key, so that a repeated write changes nothing', async () => {
    const store = await bench.fresh();
    await store.putUsage([row(), row({ status: 500 })], []);
    await store.putUsage([row({ data: '[7]' })], []);
    await store.putUsage([row({ data: '[7]' })], []);
    assert.deepEqual(
      (await store.readUsage(query)).map(({ status, data }) => [status, data]),
      [
        [200, '[7]'],
        [500, '[1]'],
      ],
    );
  });

  it('keeps resolutions and nodes apart, and reads a range without its end', async () => {
    const store = await bench.fresh();
    const others = [row({ resolution: 'hour' }), row({ resolution: 'day' })];
    const outside = [row({ start: noon - minute }), row({ start: noon + 60 * minute })];
    const inside = [row(), row({ node: 'n2' }), row({ start: noon + 59 * minute })];
    await store.putUsage([...others, ...outside, ...inside], []);
    assert.deepEqual(await store.readUsage(query), inside);
    assert.deepEqual(await store.readUsage({ ...query, resolution: 'hour' }), others.slice(0, 1));
  });

  it('returns usage rows in pages, in both directions', async () => {
    const store = await bench.fresh();
    const rows = [0, 1, 2].flatMap((at) =>
      ['a', 'b'].flatMap((route) => [200, 404].map((status) => row({ start: noon + at * minute, route, status }))),
    );
    await store.putUsage(rows.toReversed(), []);
    for (const order of ['asc', 'desc'] as const) {
      const walked: UsageRow[] = [];
      let after: UsageKey | undefined;
      for (;;) {
        const page = await store.readUsage({ ...query, order, limit: 5, ...(after === undefined ? {} : { after }) });
        walked.push(...page);
        const last = page.at(-1);
        if (last === undefined) break;
        after = keyOf(last);
      }
      assert.deepEqual(walked, order === 'asc' ? rows : rows.toReversed());
    }
  });

  it('reads only the requested usage rows', async () => {
    const store = await bench.fresh();
    const rows = [row(), row({ route: 'r2', status: 404 }), row({ route: 'r3', status: 503 })];
    await store.putUsage(rows, []);
    const read = (fields: Partial<UsageQuery>) => store.readUsage({ ...query, ...fields });
    assert.deepEqual(await read({ where: { route: ['r1', 'r3', 'r9', "'"] } }), [rows[0], rows[2]]);
    assert.deepEqual(await read({ where: { route: ['r1'], service: ['s2'] } }), []);
    assert.deepEqual(await read({ where: { route: [] } }), []);
    assert.deepEqual(await read({ where: { route: ['r1\0'] } }), []);
    assert.deepEqual(
      await read({
        statuses: [
          [404, 404],
          [500, 599],
        ],
      }),
      rows.slice(1),
    );
  });

  it('removes old usage rows of one resolution, some hundreds at a time', async () => {
    const store = await bench.fresh();
    const old = Array.from({ length: 700 }, (_, at) => row({ start: noon - minute, consumer: `c${at}` }));
    await store.putUsage([...old, row(), row({ resolution: 'hour', start: noon - minute })], []);
    let removed = 0;
    for (let some = -1; some !== 0; removed += some) {
      some = await store.deleteUsage('minute', noon);
      assert.ok(some <= 500);
    }
    assert.equal(removed, 700);
    assert.equal((await store.readUsage({ ...query, from: 0 })).length, 1);
    assert.equal((await store.readUsage({ ...query, resolution: 'hour', from: 0 })).length, 1);
  });

  it('keeps the last name of an id, also when an older one arrives later', async () => {
    const store = await bench.fresh();
    await store.putUsage([], [name('r1', 'first'), name('r2', 'users')]);
    await store.putUsage([], [name('r1', 'between', noon + 1), name('r1', 'last', noon + 2)]);
    await store.putUsage([], [name('r1', 'late', noon + 1)]);
    assert.deepEqual(await store.readUsageNames('route', ['r1', 'r9', 'x\0']), [name('r1', 'last', noon + 2)]);
    assert.deepEqual(await store.readUsageNames('consumer', ['r1']), []);
    assert.deepEqual(await store.findUsageNames('route', 'users'), [name('r2', 'users')]);
    assert.deepEqual(await store.findUsageNames('route', 'first\0'), []);
    assert.equal(await store.deleteUsageNames(noon + 1), 1);
    assert.deepEqual(await store.findUsageNames('route', 'users'), []);
  });

  it('writes usage while another transaction writes entities, and outside of the change log', async () => {
    const store = await bench.fresh();
    const before = await store.position();
    const { result } = await store.write(async () => ({ put: store.putUsage([row()], [name('r1', 'a')]) }));
    await result.put;
    assert.deepEqual(await store.changesSince(before, 10), { changes: [], position: before });
  });

  it('lets several nodes write usage and the same names at once, without loss', async () => {
    const place = await bench.newPlace();
    const nodes = [await bench.open(place), await bench.open(place), await bench.open(place)];
    for (const node of nodes) await node.migrate();
    const names = ['a', 'b', 'c', 'd'].map((id) => name(id, id));
    await Promise.all(
      nodes.flatMap((store, at) =>
        [0, 1, 2].map((turn) =>
          store.putUsage([row({ node: `n${at}`, data: `[${turn}]` })], at % 2 === 0 ? names : names.toReversed()),
        ),
      ),
    );
    const after = await bench.open(place);
    assert.equal((await after.readUsage(query)).length, 3);
    assert.equal((await after.readUsageNames('route', ['a', 'b', 'c', 'd'])).length, 4);
  });
}
