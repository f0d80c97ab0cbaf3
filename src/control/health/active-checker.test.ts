import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { until } from '../../../test/support/until.ts';
import { type ActiveChecks, healthConfigOf } from '../../shared/health/health-config.ts';
import { ActiveChecker, type CheckedAddress, type CheckerOptions } from './active-checker.ts';
import { type ProbeResult, ProbeRun } from './probe.ts';
import { servingStatus } from './probe-grpc.ts';
import { probeHttp, requestHead } from './probe-http.ts';

function checksOf(active: object): ActiveChecks {
  return healthConfigOf({ active: { type: 'http', timeout: 5, ...active } })?.active as ActiveChecks;
}

/** A server that answers when the test says so. */
async function heldServer() {
  const waiting: Socket[] = [];
  let most = 0;
  let seen = 0;
  const server = createServer((socket) => {
    seen++;
    most = Math.max(most, waiting.push(socket));
    socket.on('error', () => {}).resume();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    waiting,
    get seen() {
      return seen;
    },
    get most() {
      return most;
    },
    answerAll() {
      for (const socket of waiting.splice(0)) socket.end('HTTP/1.1 204 No Content\r\n\r\n');
    },
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function addressesAt(port: number, count: number): CheckedAddress[] {
  return Array.from({ length: count }, (_, index) => ({ slot: index + 1, host: '127.0.0.1', ip: '127.0.0.1', port }));
}

function options(results: ProbeResult[], healthy: (slot: number) => boolean = () => true): CheckerOptions {
  return {
    isHealthy: healthy,
    probed: (_, result) => void results.push(result),
    targetOf: ({ host, ip, port }, { timeout, path, headers }) => ({
      ...{ host, ip, port, timeout, path, headers },
      authority: host,
      tls: null,
    }),
  };
}

describe('the checker of an upstream', () => {
  it('runs at most the maximum number of probes at a time, and all of them in the end', async () => {
    await using server = await heldServer();
    const results: ProbeResult[] = [];
    const checks = checksOf({ concurrency: 3, healthy: { interval: 0.02 } });
    const checker = new ActiveChecker(checks, options(results));
    checker.update(checks, addressesAt(server.port, 10));
    try {
      await until(() => server.waiting.length === 3);
      while (results.length < 30) {
        server.answerAll();
        await new Promise((resolve) => setImmediate(resolve));
      }
      assert.equal(server.most, 3);
      assert.ok(results.every((result) => result.kind === 'status' && result.status === 204));
    } finally {
      checker.close();
    }
  });

  it('follows the health of an address: its interval, or no probes at all', async () => {
    await using server = await heldServer();
    const results: ProbeResult[] = [];
    let healthy = true;
    const checks = checksOf({ healthy: { interval: 0 }, unhealthy: { interval: 0.02 } });
    const checker = new ActiveChecker(
      checks,
      options(results, () => healthy),
    );
    checker.update(checks, addressesAt(server.port, 1));
    try {
      assert.equal(server.seen, 0);
      healthy = false;
      checker.flipped(1);
      await until(() => server.waiting.length === 1);
      healthy = true;
      server.answerAll();
      await until(() => results.length === 1);
      // There is no notification; the checker finds it.
      healthy = false;
      await until(() => server.waiting.length === 1);
    } finally {
      checker.close();
    }
  });

  it('keeps the interval of an address when others are added and removed, and reports nothing about a removed one', async () => {
    await using server = await heldServer();
    const results: ProbeResult[] = [];
    const checks = checksOf({ healthy: { interval: 600 } });
    const checker = new ActiveChecker(checks, options(results));
    const [first, second] = addressesAt(server.port, 2) as [CheckedAddress, CheckedAddress];
    checker.update(checks, [first]);
    try {
      await until(() => server.waiting.length === 1);
      checker.update(checks, [first, second]);
      await until(() => server.waiting.length === 2);
      checker.update(checks, [second]);
      server.answerAll();
      await until(() => results.length === 1);
      checker.update(checks, [second, first]);
      await until(() => server.waiting.length === 1);
      assert.equal(server.seen, 3);
    } finally {
      checker.close();
    }
  });
});

describe('a probe', () => {
  it('does not fail because this node was too busy to read the answer', async () => {
    await using server = await heldServer();
    const { promise, resolve } = Promise.withResolvers<ProbeResult>();
    const run = new ProbeRun(100, resolve);
    probeHttp(run, { ...target, ip: '127.0.0.1', port: server.port, path: '/', headers: [] });
    await until(() => server.waiting.length === 1);
    // From here timers run before received data is read.
    await new Promise((resolve) => setImmediate(resolve));
    server.answerAll();
    for (const end = performance.now() + 300; performance.now() < end; );
    assert.deepEqual(await promise, { kind: 'status', status: 204 });
  });

  const target = { ip: '::1', port: 80, host: '::1', authority: '[::1]', timeout: 1, tls: null };

  it('cannot be made to send more than one request', () => {
    const headers = [
      ['X-A', 'a\r\nX-Evil: 1'],
      ['X B', 'b'],
      ['host', 'other.test'],
      ['X-C', 'c'],
    ] as const;
    const head = requestHead({ ...target, path: '/a b\r\nX: ü', headers });
    assert.equal(
      head,
      'GET /a%20b%0D%0AX:%20%C3%BC HTTP/1.0\r\nUser-Agent: sluicegate-health-check\r\nhost: other.test\r\nX-C: c\r\n\r\n',
    );
  });

  it('reads answers of gRPC health services strictly', () => {
    const message = (...bytes: number[]) => Buffer.from([0, 0, 0, 0, bytes.length, ...bytes]);
    assert.equal(servingStatus(message(8, 1)), 1);
    assert.equal(servingStatus(message()), 0);
    assert.equal(servingStatus(message(8, 2)), 2);
    for (const bad of [Buffer.alloc(0), Buffer.from([1, 0, 0, 0, 2, 8, 1]), Buffer.from([0, 0, 0, 0, 3, 8, 1])]) {
      assert.equal(servingStatus(bad), -1);
    }
    assert.equal(servingStatus(message(16, 1)), -1);
    assert.equal(servingStatus(message(8, 129)), -1);
  });
});
