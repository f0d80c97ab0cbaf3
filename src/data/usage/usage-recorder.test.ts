import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { quantile } from '../../shared/usage/latency-sketch.ts';
import { readKey } from '../../shared/usage/series-key.ts';
import { createUsageMemory, UsageHalf } from '../../shared/usage/usage-memory.ts';
import { countedRequest, named, person } from './analytics.fixture.ts';
import { UsageRecorder } from './usage-recorder.ts';

const minute = 60_000;
const noon = Date.UTC(2026, 5, 1, 12);

function setUp(series = 100) {
  const memory = createUsageMemory(series);
  return { recorder: new UsageRecorder(memory), halves: [new UsageHalf(memory, 0), new UsageHalf(memory, 1)] as const };
}

function contentOf(half: UsageHalf) {
  return Array.from({ length: half.used }, (_, block) => ({
    minute: half.minute(block),
    ...readKey(half.key(block)),
    ...half.usage(block),
  }));
}

function requestsOf(half: UsageHalf): number {
  return contentOf(half).reduce((sum, { requests }) => sum + requests, half.lost);
}

describe('the recorder', () => {
  it('counts by route, service, consumer, version and status', () => {
    const { recorder, halves } = setUp();
    const [route, service, consumer] = [named('r'), named('s'), person('c')];
    const kinds = [
      countedRequest({ ended: noon }),
      countedRequest({ ended: noon, route, service }),
      countedRequest({ ended: noon, route, service, status: 404 }),
      countedRequest({ ended: noon, route, service, consumer }),
      countedRequest({ ended: noon, route, service, apiVersion: 'v2' }),
      countedRequest({ ended: noon, route, service: named('s2') }),
    ];
    for (let turn = 0; turn < 3; turn++) for (const kind of kinds) recorder.record(kind, 10, 20);
    const found = contentOf(halves[0]);
    assert.deepEqual(
      found.map((one) => [one.route, one.service, one.consumer, one.version, one.status]),
      [
        ['', '', '', '', 200],
        ['r', 's', '', '', 200],
        ['r', 's', '', '', 404],
        ['r', 's', 'c', '', 200],
        ['r', 's', '', 'v2', 200],
        ['r', 's2', '', '', 200],
      ],
    );
    for (const one of found) assert.deepEqual([one.requests, one.bytesIn, one.bytesOut, one.minute], [3, 30, 60, noon]);
  });

  it('reports total and backend latencies', () => {
    const { recorder, halves } = setUp();
    recorder.record(countedRequest({ ended: noon, took: 100, upstream: 40 }), 0, 0);
    recorder.record(countedRequest({ ended: noon, took: 300 }), 0, 0);
    const [{ latency, upstream } = assert.fail()] = contentOf(halves[0]);
    assert.ok(latency.sum >= 400 && latency.greatest >= 300);
    assert.ok(Math.abs((quantile(latency.sketch, 0.5, latency.greatest) ?? 0) - 100) < 10);
    assert.deepEqual([Math.round(upstream.sum), Math.round(upstream.greatest)], [40, 40]);
    assert.equal(upstream.sketch[1], 1);
  });

  it('counts a client that closed the connection before a response as nginx does', () => {
    const { recorder, halves } = setUp();
    recorder.record(countedRequest({ status: 0 }), 0, 0);
    assert.equal(contentOf(halves[0])[0]?.status, 499);
  });

  it('uses the minute in which a request ended, also after the clock was set back', () => {
    const { recorder, halves } = setUp();
    for (const ended of [noon - 1, noon + 1, noon + minute + 1, noon - 3600_000]) {
      recorder.record(countedRequest({ ended }), 0, 0);
    }
    assert.deepEqual(
      contentOf(halves[0]).map((one) => (one.minute - noon) / minute),
      [-1, 0, 1, -60],
    );
  });

  it('continues in the other half, and reports names once', () => {
    const { recorder, halves } = setUp();
    const counted = countedRequest({ route: named('r'), consumer: person('c') });
    recorder.record(counted, 0, 0);
    assert.deepEqual(recorder.switchTo(1), [
      ['route', 'r', 'name of r'],
      ['consumer', 'c', 'user c'],
    ]);
    recorder.record(counted, 0, 0);
    recorder.record(countedRequest({ route: { id: 'r', name: 'renamed' } }), 0, 0);
    assert.deepEqual([requestsOf(halves[0]), requestsOf(halves[1])], [1, 2]);
    halves[0].clear();
    assert.deepEqual(recorder.switchTo(0), [['route', 'r', 'renamed']]);
    recorder.record(counted, 0, 0);
    assert.deepEqual([requestsOf(halves[0]), requestsOf(halves[1])], [1, 2]);
  });

  it('reports names again after some hours, because they expire otherwise', () => {
    const { recorder } = setUp();
    const reported: number[] = [];
    for (let at = 0; at <= 14; at++) {
      recorder.record(countedRequest({ ended: noon + at * 60 * minute, route: named('r') }), 0, 0);
      if (recorder.switchTo(at % 2 === 0 ? 1 : 0).length > 0) reported.push(at);
    }
    assert.deepEqual(reported, [0, 7, 13]);
  });

  it('merges consumers when there are too many, and still separates routes and statuses', () => {
    const { recorder, halves } = setUp(100);
    for (let at = 0; at < 10_000; at++) {
      recorder.record(countedRequest({ ended: noon, route: named('r'), consumer: person(`c${at}`) }), 1, 0);
    }
    for (const status of [200, 404]) recorder.record(countedRequest({ ended: noon, route: named('q'), status }), 1, 0);
    const found = contentOf(halves[0]);
    assert.ok(found.length <= 100);
    assert.ok((found.find((one) => one.route === 'r' && one.consumer === '*')?.requests ?? 0) >= 9_900);
    assert.equal(found.filter((one) => one.route === 'q' && one.requests === 1).length, 2);
    assert.equal(
      found.reduce((sum, { bytesIn }) => sum + bytesIn, 0),
      10_002,
    );
  });

  it('counts requests without a free series by the first digit of the status, and loses nothing', () => {
    const { recorder, halves } = setUp(100);
    for (const start of [0, minute, 2 * minute]) {
      for (let at = 0; at < 300; at++) {
        const status = 200 + (at % 400);
        recorder.record(countedRequest({ ended: noon + start, route: named(`r${at}`), status }), 0, 0);
      }
    }
    const rest = contentOf(halves[0]).filter((one) => one.route === '*');
    assert.ok(rest.every((one) => one.status >= 2 && one.status <= 4));
    assert.equal(halves[0].lost, 0);
    assert.equal(requestsOf(halves[0]), 900);
  });

  it('reports how many requests it could not count when it is not read for too long', () => {
    const { recorder, halves } = setUp(10);
    for (let at = 0; at < 100; at++) recorder.record(countedRequest({ ended: noon + at * minute, status: 200 }), 0, 0);
    assert.ok(halves[0].lost > 0);
    assert.equal(requestsOf(halves[0]), 100);
  });

  it('separates ids of any length and content from its own delimiters', () => {
    const { recorder, halves } = setUp();
    recorder.record(countedRequest({ route: named('r'), consumer: person('x'.repeat(5000)) }), 0, 0);
    recorder.record(countedRequest({ route: named('r'), consumer: person('a\0b\x100') }), 0, 0);
    recorder.record(countedRequest({ route: named('r'), consumer: person('ü'.repeat(40)) }), 0, 0);
    const found = contentOf(halves[0]);
    assert.deepEqual(
      found.map((one) => [one.consumer, one.requests, one.status]),
      [
        ['*', 2, 200],
        ['ü'.repeat(40), 1, 200],
      ],
    );
  });
});
