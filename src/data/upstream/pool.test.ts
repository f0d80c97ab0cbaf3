import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRawBackend } from '../../../test/support/raw-backend.ts';
import type { UpstreamConnection } from '../http1/upstream-connection.ts';
import { Exchange } from '../request/exchange.ts';
import { Pool } from './pool.ts';
import type { ResponseListener } from './upstream-link.ts';

const options = { size: 4, maxRequests: 100, idleTimeout: 60_000, maxHeadSize: 8192, maxHeaderCount: 100 };
const timeouts = { connect: 2_000, send: 2_000, firstByte: 2_000, idle: 2_000, total: 0 };
const request = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

function connect(pool: Pool): Promise<UpstreamConnection> {
  return new Promise((resolve, reject) =>
    pool.connect(
      5_000,
      (link) => resolve(link as UpstreamConnection),
      (error) => reject(new Error(error.message)),
    ),
  );
}

/** The parts of an exchange that a connection reads. */
function getExchange(): Exchange {
  return Object.assign(Object.create(Exchange.prototype), {
    head: { method: 'GET', upgrade: '' },
    upstreamMethod: null,
  });
}

test('a connection whose client could not receive the last bytes of a response reads the next response', async () => {
  await using backend = await closing(startRawBackend());
  let taken: UpstreamConnection | null = null;
  let ended = Promise.withResolvers<void>();
  const listener: ResponseListener = {
    informational() {},
    responseHead() {},
    responseBody: () => taken?.pause(),
    responseEnd: () => ended.resolve(),
    responseIdle() {},
    upstreamDrained() {},
    upstreamFailed: (_exchange, error) => ended.reject(new Error(error.message)),
    unexpected: (_exchange, error) => ended.reject(error),
  };
  const address = { ip: '127.0.0.1', port: backend.port, tls: null, serverName: '' };
  const pool = new Pool(address, options, listener);
  taken = await connect(pool);
  for (let round = 0; round < 3; round++) {
    ended = Promise.withResolvers();
    taken.send(getExchange(), request, 0, timeouts, performance.now());
    await ended.promise;
    assert.equal(pool.take(), taken);
  }
  pool.released(taken, performance.now());
  pool.close();
});

test('a connection that was established too late for its request may be stale like any idle one', async () => {
  await using backend = await closing(startRawBackend());
  const failed = Promise.withResolvers<boolean>();
  const listener = {
    upstreamFailed: (_x: Exchange, _error: unknown, _silent: boolean, reused: boolean) => failed.resolve(reused),
  };
  const address = { ip: '127.0.0.1', port: backend.port, tls: null, serverName: '' };
  const pool = new Pool(address, options, listener as Partial<ResponseListener> as ResponseListener);
  pool.giveBack(await connect(pool));
  const taken = pool.take() as UpstreamConnection;
  taken.send(getExchange(), request, 0, timeouts, performance.now());
  taken.socket.destroy();
  assert.equal(await failed.promise, true);
  pool.close();
});

async function closing<T extends { close(): Promise<void> }>(opening: Promise<T>): Promise<T & AsyncDisposable> {
  const opened = await opening;
  return Object.assign(opened, { [Symbol.asyncDispose]: () => opened.close() });
}
