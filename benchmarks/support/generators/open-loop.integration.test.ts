import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, it } from 'node:test';
import { openLoopLoad } from './open-loop.ts';

/** Milliseconds for which the server stops once. */
const pause = 300;
let server: Server;
let stopsAt = Number.POSITIVE_INFINITY;
let answered = 0;

before(async () => {
  server = createServer((_, response) => {
    answered++;
    if (answered === stopsAt) {
      const end = performance.now() + pause;
      while (performance.now() < end);
    }
    response.end('fine');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});

after(() => {
  server.close();
  server.closeAllConnections();
});

function run(): ReturnType<typeof openLoopLoad> {
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  return openLoopLoad({ url, rate: 500, seconds: 1, connections: 4 });
}

it('openLoopLoad() sends as many requests as are due', async () => {
  const figures = await run();
  assert.deepEqual([figures.requests, figures.failed, answered], [500, 0, 500]);
  assert.ok(figures.p50 <= figures.p99 && figures.p99 <= figures.p999 && figures.p999 <= figures.max);
});

it('openLoopLoad() counts the requests that a server kept from being sent', async () => {
  stopsAt = answered + 100;
  const figures = await run();
  assert.equal(figures.failed, 0);
  assert.ok(figures.max >= pause, `${figures.max}`);
  // Of 500 requests 150 were due meanwhile, although at most 4 were under way: the wait of the 5 slowest is close to the pause.
  assert.ok(figures.p99 > pause / 2, `${figures.p99}`);
});
