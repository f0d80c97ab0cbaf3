import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  answer,
  answerEach,
  type BackendConnection,
  type RawBackend,
  startRawBackend,
} from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';

/** Milliseconds. */
const duration = 3000;
const flap = 200;

/** Case 35: targets that flap, and workers that die. No health checks: retries must suffice. */
describe('one target of five that flaps', () => {
  it('fails no idempotent request by refusing and resetting connections', async (t) => {
    let down = false;
    const flapping = await startRawBackend(async (connection: BackendConnection) => {
      if (down) connection.reset();
      else await answerEach(() => answer('flapping'))(connection);
    });
    const steady = await Promise.all(
      Array.from({ length: 4 }, () => startRawBackend(answerEach(() => answer('steady')))),
    );
    try {
      await using rig = await startRig({ settings: { workers: 2 } });
      await rig.write('PUT', '/upstreams/five', {});
      for (const { port } of [flapping, ...steady]) {
        await rig.write('POST', '/upstreams/five/targets', { target: `127.0.0.1:${port}` });
      }
      await rig.write('PATCH', '/services/backend', { host: 'five', retries: 5 });
      const end = performance.now() + duration;
      const timer = setInterval(() => {
        down = !down;
        if (down) for (const { socket } of flapping.connections) socket.resetAndDestroy();
      }, flap);
      const seen = { flapping: 0, steady: 0 };
      const load = async (): Promise<void> => {
        using client = await openClient(rig.port);
        while (performance.now() < end) {
          client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
          const { status, body } = await client.readResponse();
          assert.equal(status, 200, body);
          seen[body as keyof typeof seen]++;
        }
      };
      await Promise.all(Array.from({ length: 8 }, load)).finally(() => clearInterval(timer));
      t.diagnostic(`${seen.flapping + seen.steady} requests, ${seen.flapping} answered by the one that flaps`);
      assert.ok(seen.flapping > 0 && seen.steady > 0);
    } finally {
      await closeAll([flapping, ...steady]);
    }
  });
});

describe('a worker that dies under load', () => {
  it('fails only its own requests, and leaves none counted as in flight', async () => {
    const faulty = new URL('../support/plugins/faulty.ts', import.meta.url).pathname;
    let hold = true;
    const held: BackendConnection[] = [];
    const script = answerEach(async ({ target, connection }) => {
      if (target !== '/held' || !hold) return answer('well');
      held.push(connection);
      return null;
    });
    const targets = await Promise.all([startRawBackend(script), startRawBackend(script)]);
    try {
      await using rig = await startRig({ settings: { workers: 2, plugins: ['bundled', faulty] } });
      await rig.write('PUT', '/upstreams/two', { algorithm: 'least-connections' });
      for (const { port } of targets) {
        await rig.write('POST', '/upstreams/two/targets', { target: `127.0.0.1:${port}` });
      }
      await rig.write('PATCH', '/services/backend', { host: 'two' });
      await rig.write('POST', '/routes', { name: 'kill', paths: ['/kill'] });
      await rig.write('POST', '/routes/kill/plugins', { name: 'faulty' });
      // The system spreads connections over the workers: with this many, both have some.
      const clients = await Promise.all(Array.from({ length: 24 }, () => openClient(rig.port)));
      const killer = await openClient(rig.port);
      for (const client of clients) client.write('GET /held HTTP/1.1\r\nHost: a\r\n\r\n');
      await until(async () => held.length === clients.length);
      const outcomes = clients.map((client) =>
        client.readResponse().then(
          ({ status }) => status,
          () => 0,
        ),
      );
      killer.write('GET /kill HTTP/1.1\r\nHost: a\r\nX-Fail: exit\r\n\r\n');
      await killer.readResponse().catch(() => {});
      hold = false;
      for (const connection of held) connection.write(answer('late'));
      const statuses = await Promise.all(outcomes);
      const survived = statuses.filter((status) => status === 200).length;
      assert.ok(survived > 0 && survived < clients.length, JSON.stringify(statuses));
      assert.ok(
        statuses.every((status) => status === 200 || status === 0),
        JSON.stringify(statuses),
      );
      // With nothing left in flight anywhere, least-connections gives both the same share.
      await until(async () => (await pids(rig)).length === 2);
      const before = targets.map(({ requests }) => requests.length);
      for (let count = 0; count < 20; count++) {
        using client = await openClient(rig.port);
        client.write('GET /later HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
        assert.equal((await client.readResponse()).status, 200);
      }
      const shares = targets.map(({ requests }, index) => requests.length - before[index]!);
      assert.ok(
        shares.every((share) => share >= 8),
        JSON.stringify(shares),
      );
      for (const client of [killer, ...clients]) client[Symbol.dispose]();
    } finally {
      await closeAll(targets);
    }
  });
});

async function pids(rig: { write(method: string, path: string): Promise<Readonly<Record<string, unknown>>> }) {
  const { pids: known } = (await rig.write('GET', '/')) as { pids: { workers: readonly unknown[] } };
  return known.workers;
}

async function closeAll(backends: readonly RawBackend[]): Promise<void> {
  await Promise.all(backends.map((backend) => backend.close()));
}
