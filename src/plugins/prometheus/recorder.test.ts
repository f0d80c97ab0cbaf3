import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { readSeries, SeriesWriter, seriesZone } from '../../plugin-kit/shared-memory/index.ts';
import type { ConsumerView, RouteView, ServiceView } from '../../plugin-sdk/index.ts';
import { Recorder } from './recorder.ts';
import { bytesZone, requestsZone, timesZone, totalAt, upstreamAt } from './series-kinds.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const service = { id: 's1', name: 'users', host: 'users.internal' } as ServiceView;
const route = { id: 'r1', name: 'list', tags: [] } as RouteView;
const ada = { id: 'c1', username: 'ada', customId: null, tags: [] } as ConsumerView;
const observed = { total: 26.4, gateway: 0.6, bytesReceived: 100, bytesSent: 1000 };

function open(entries = 1000) {
  const made = (zone: { readonly name: string; readonly cells: number }) => {
    const memory = new SharedArrayBuffer(seriesZone(zone.name, { entries, cells: zone.cells }).bytes);
    const sums = (): Record<string, readonly number[]> =>
      Object.fromEntries(readSeries(memory, zone.cells).series.map((one) => [one.labels.join('|'), [...one.cells]]));
    return { writer: new SeriesWriter(memory, 0, zone.cells), sums };
  };
  const [requests, times, bytes] = [made(requestsZone), made(timesZone), made(bytesZone)];
  const recorder = new Recorder('http', { requests: requests.writer, times: times.writer, bytes: bytes.writer });
  return { recorder, requests: requests.sums, times: times.sums, bytes: bytes.sums };
}

test('separates statuses by source and by consumer', () => {
  const { recorder, requests, bytes } = open();
  for (const status of [200, 404, 200, 200]) recorder.record(route, service, null, status, true, observed, 5);
  recorder.record(route, service, null, 200, false, observed, -1);
  recorder.record(route, service, ada, 200, true, observed, 5);
  recorder.record(route, service, { ...ada, username: 'ada II' }, 200, true, observed, 5);
  for (let round = 0; round < 3; round++) {
    recorder.record(route, null, { ...ada, id: 'c2', username: null }, 200, false, observed, -1);
    recorder.record(route, service, null, 500, false, observed, -1);
  }
  assert.deepEqual(requests(), {
    'http|users|list|200|service|': [3],
    'http|users|list|404|service|': [1],
    'http|users|list|200|kong|': [1],
    'http|users|list|200|service|ada': [1],
    'http|users|list|200|service|ada II': [1],
    'http||list|200|kong|': [3],
    'http|users|list|500|kong|': [3],
  });
  assert.deepEqual(bytes()['both|users|list|'], [800, 8000, 8]);
  assert.deepEqual(bytes()['both|users|list|ada'], [100, 1000, 1]);
});

test('counts whole milliseconds in the bucket whose bound they do not exceed', () => {
  const { recorder, times } = open();
  recorder.record({ ...route, name: null }, { ...service, name: null }, null, 200, true, observed, 25.4);
  recorder.record(
    { ...route, name: null },
    { ...service, name: null },
    null,
    200,
    true,
    { ...observed, total: 1e9 },
    -1,
  );
  const cells = times()['http|users.internal|r1'] ?? assert.fail();
  assert.deepEqual(cells.slice(0, 3), [2, 0, 0], '0.6 is 1, which is in the first');
  assert.equal(cells[upstreamAt - 1], 2, 'sum of whole milliseconds');
  assert.equal(cells[upstreamAt], 1, '25.4 is 25');
  assert.equal(cells[totalAt - 1], 25);
  assert.deepEqual(
    [cells[totalAt], cells[totalAt + 1], cells[totalAt + 13]],
    [0, 1, 1],
    'the last one is without a bound',
  );
  assert.equal(cells[timesZone.cells - 1], 1e9 + 26);
});

test('counts all consumers, even more than are cached', () => {
  const { recorder, requests } = open(10_000);
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < 2500; at++) {
      recorder.record(route, service, { ...ada, id: `c${at}`, username: `u${at}` }, 200, true, observed, 1);
    }
  }
  const sums = requests();
  assert.equal(Object.keys(sums).length, 2500);
  assert.ok(Object.values(sums).every(([count]) => count === 2));
});

test('evicts edited services', async () => {
  const { recorder, requests } = open();
  const gone: WeakRef<ServiceView>[] = [];
  for (let edit = 0; edit < 20; edit++) {
    const edited = { ...service };
    gone.push(new WeakRef(edited));
    recorder.record(route, edited, null, 200, true, observed, 1);
  }
  await turn();
  collectGarbage();
  // The first is known to the route, and the last may be to the stack.
  assert.ok(gone.filter((one) => one.deref() !== undefined).length <= 2);
  assert.deepEqual(requests(), { 'http|users|list|200|service|': [20] });
});
