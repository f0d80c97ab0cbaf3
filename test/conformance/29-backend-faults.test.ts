import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { startHealthRig } from '../support/health-rig.ts';
import { answer, answerEach, startRawBackend } from '../support/raw-backend.ts';
import { exchangeOne, openClient } from '../support/raw-client.ts';
import { startRig } from '../support/rig.ts';
import { startSynBlackHole } from '../support/syn-black-hole.ts';

const get = 'GET /x HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n';

/** Case 29: faults of a backend count against its target, and another target serves where possible. */
describe('faults of backends', () => {
  it('count against the target when the answer is not HTTP', async () => {
    await using junk = await closing(await startRawBackend(answerEach(() => 'what do you want?\r\n\r\n')));
    await using good = await closing(await startRawBackend());
    const target = `127.0.0.1:${junk.backend.port}`;
    await using rig = await startHealthRig({
      healthchecks: { passive: { unhealthy: { tcp_failures: 2 } } },
      targets: [target, `127.0.0.1:${good.backend.port}`],
    });
    let failures = 0;
    for (let count = 0; count < 12; count++) if ((await rig.get()).status === 502) failures++;
    assert.equal(failures, 2);
    assert.equal((await rig.health())[target], 'UNHEALTHY');
  });

  it('are retried when the answer is not HTTP only where the retries plugin says so', async () => {
    await using junk = await closing(await startRawBackend(answerEach(() => 'what do you want?\r\n\r\n')));
    await using rig = await startRig({ settings: { plugins: ['retries'] } });
    await rig.write('PUT', '/upstreams/pair', {});
    for (const port of [junk.backend.port, rig.backend.port]) {
      await rig.write('POST', '/upstreams/pair/targets', { target: `127.0.0.1:${port}` });
    }
    await rig.write('PATCH', '/services/backend', { host: 'pair', retries: 5 });
    const without = [await exchangeOne(rig.port, get), await exchangeOne(rig.port, get)];
    assert.deepEqual(without.map(({ status }) => status).sort(), [200, 502]);
    await rig.write('POST', '/services/backend/plugins', {
      name: 'retries',
      config: { on: ['broken-answer'], backoff: 0, budget_min: 10 },
    });
    for (let count = 0; count < 6; count++) assert.equal((await exchangeOne(rig.port, get)).status, 200);
    assert.ok(junk.backend.requests.length > 1);
  });

  it('break the transfer on a reset in mid-body, and the next request is served', async () => {
    await using rig = await startRig({
      script: async (connection) => {
        for (;;) {
          const { target } = await connection.readRequest();
          if (target !== '/reset') connection.write(answer('well'));
          else {
            connection.write('HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello');
            setImmediate(() => connection.reset());
            return;
          }
        }
      },
    });
    using client = await openClient(rig.port);
    client.write('GET /reset HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal((await client.readResponse()).complete, false);
    assert.equal((await exchangeOne(rig.port, get)).body, 'well');
  });

  it('cost one connect timeout when an address drops every packet, then another target serves', async () => {
    await using hole = await startSynBlackHole();
    await using rig = await startRig({ service: { connect_timeout: 300, retries: 1 } });
    await rig.write('PUT', '/upstreams/pair', {});
    for (const port of [hole.port, rig.backend.port]) {
      await rig.write('POST', '/upstreams/pair/targets', { target: `127.0.0.1:${port}` });
    }
    await rig.write('PATCH', '/services/backend', { host: 'pair' });
    const begun = performance.now();
    for (let count = 0; count < 4; count++) assert.equal((await exchangeOne(rig.port, get)).status, 200);
    assert.ok(performance.now() - begun < 6000);
    await rig.write('PATCH', '/services/backend', { host: '127.0.0.1', port: hole.port });
    assert.equal((await exchangeOne(rig.port, get)).status, 504);
  });
});

async function closing<T extends { close(): Promise<void> }>(backend: T) {
  return { backend, [Symbol.asyncDispose]: () => backend.close() };
}
