import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import '../../../test/support/file-end.ts';
import { SeriesWriter, seriesZone } from '../../plugin-kit/shared-memory/series.ts';
import prometheus from '../../plugins/prometheus/index.ts';
import { bytesZone, requestsZone, timesZone } from '../../plugins/prometheus/series-kinds.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { metricsStream } from './metrics-stream.ts';
import { MetricsRegistry } from './registry.ts';

/*
 * A page of 5,000 routes that two workers have counted, with everything on: 30 MB of text.
 */

interface ZoneShape {
  readonly name: string;
  readonly cells: number;
}

const routes = 5000;
let server: Server;
let url: string;

before(async () => {
  const zones: readonly ZoneShape[] = [requestsZone, timesZone, bytesZone];
  const memories = new Map(zones.map((zone) => [zone.name, filled(zone)]));
  const registry = new MetricsRegistry({
    plugins: new Map([['prometheus', prometheus]]),
    zone: (_instance, name) => memories.get(name) ?? null,
    upstreams: () => [],
    background: async () => null,
    log: { warn: (message, fields) => assert.fail(`${message} ${JSON.stringify(fields)}`) },
  });
  const plugins = [{ id: 'p', name: 'prometheus', config: {} }] as never;
  registry.configChanged({ version: 1, full: true, upserts: { plugins }, removes: {} } satisfies SnapshotDelta);
  server = createServer(async (_request, response) => {
    metricsStream(await registry.collect(), 'prometheus', assert.fail).pipe(response);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

/** The series of two workers that have counted three statuses for each route. */
function filled({ name, cells }: ZoneShape): SharedArrayBuffer {
  const { bytes, perWorker = 0 } = seriesZone(name, { entries: 30_000, cells });
  const memory = new SharedArrayBuffer(bytes + perWorker);
  for (const worker of [0, 1]) {
    const writer = new SeriesWriter(memory, worker, cells);
    for (let route = 0; route < routes; route++) {
      const labels = ['http', `service-number-${route}`, `route-number-${route}`];
      const rest: Readonly<Record<string, readonly (readonly string[])[]>> = {
        [requestsZone.name]: ['200', '404', '503'].map((code) => [code, 'service', '']),
        [bytesZone.name]: [['']],
      };
      for (const more of rest[name] ?? [[]]) {
        const place = writer.place([...labels, ...more]);
        for (let cell = 0; cell < cells; cell++) writer.values[place + cell]! += route + cell;
      }
    }
  }
  return memory;
}

/** Reads the page on a thread of its own; resolves with its size and how long it took. */
function scrape(): Promise<{ readonly bytes: number; readonly milliseconds: number }> {
  const code = `
    const { get } = require('node:http');
    const { parentPort, workerData } = require('node:worker_threads');
    const begun = performance.now();
    get(workerData, (response) => {
      let bytes = 0;
      response.on('data', (piece) => { bytes += piece.length; });
      response.on('end', () => parentPort.postMessage({ bytes, milliseconds: performance.now() - begun }));
    });`;
  return new Promise((resolve, reject) => {
    new Worker(code, { eval: true, workerData: url }).on('message', resolve).on('error', reject);
  });
}

/** CPU milliseconds of this thread, so that other load on the machine does not count. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Measures each iteration of the event loop; the returned function stops that and returns the longest one in CPU milliseconds. */
function watchTurns(): () => number {
  let longest = 0;
  let last = cpu();
  const look = (): void => {
    const now = cpu();
    longest = Math.max(longest, now - last);
    last = now;
    next = setImmediate(look);
  };
  let next = setImmediate(look);
  return () => {
    clearImmediate(next);
    return longest;
  };
}

test('a page of 5,000 routes is generated quickly, and never blocks the thread', async (t) => {
  const times: number[] = [];
  const turns: number[] = [];
  for (let round = 0; round < 4; round++) {
    const maxTurn = watchTurns();
    const begun = cpu();
    const { bytes, milliseconds } = await scrape();
    turns.push(maxTurn());
    times.push(cpu() - begun);
    assert.ok(bytes > 28_000_000, String(bytes));
    t.diagnostic(`${Math.round(milliseconds)} ms, of them ${Math.round(times[round] ?? 0)} ms CPU`);
  }
  t.diagnostic(`longest turns: ${turns.map(Math.round)} ms`);
  // What it must reach is 300 ms, and 20 ms without any stall of the data plane; the benchmarks measure that.
  assert.ok(Math.min(...times) < 1000, String(times));
  assert.ok(Math.min(...turns) < 20, String(turns));
});
