import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type GuardedGateway, startGuardedGateway } from '../../src/control/admin/access/users.fixture.ts';
import { startTestGateway } from '../support/gateway.ts';
import { exchangeOne, exchangeToEnd, openClient } from '../support/raw-client.ts';
import { type Rig, residentMemory, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';
import { openTail, type Record } from './traffic-rig.fixture.ts';

/** `GET /traffic/live`: records as they arrive. */

let rig: Rig;
before(async () => {
  rig = await startRig({ env: { SLUICEGATE_TRAFFIC_RECORDER_RATE: '1000' } });
});
after(() => rig.close());

const get = (path: string, fields = ''): Promise<{ readonly status: number }> =>
  exchangeOne(rig.port, `GET ${path} HTTP/1.1\r\nHost: a.test\r\n${fields}\r\n`) as Promise<{
    readonly status: number;
  }>;

const recorder = async (): Promise<Record> => {
  const { body } = await rig.gateway.admin('GET', '/traffic?size=1');
  return body['recorder'];
};

describe('a live tail', () => {
  it('is off until somebody looks, and leaves no trace of what was before', async () => {
    for (let sent = 0; sent < 20; sent++) await get('/before');
    const first = await recorder();
    assert.deepEqual([first.seen, first.kept, first.sampled], [0, 0, 0]);
    assert.equal(first.state, 'on');
    await get('/looked');
    await until(async () => (await recorder()).kept === 1);
  });

  it('sends records that match its filter, and the rate each second', async () => {
    await using tail = await openTail(rig.gateway.adminUrl, '?path=/wanted&client=127.0.0.0/8');
    assert.equal(tail.headers.get('content-type'), 'text/event-stream; charset=utf-8');
    assert.equal(tail.headers.get('cache-control'), 'no-store');
    await get('/unwanted');
    await get('/wanted/1');
    const found = await tail.find(({ event }) => event === 'request');
    assert.equal(found.data.path, '/wanted/1');
    assert.equal(found.data.status, 200);
    const sums = (): Record => {
      const rates = tail.events.filter(({ event }) => event === 'rate').map(({ data }) => data);
      return Object.fromEntries(
        ['seen', 'sampled', 'dropped'].map((name) => [name, rates.reduce((sum, rate) => sum + rate[name], 0)]),
      );
    };
    // Both may be in one second or in two.
    await until(() => sums().seen === 2);
    assert.deepEqual(sums(), { seen: 2, sampled: 2, dropped: 0 });
    assert.equal(tail.requests().length, 1);
  });

  it('refuses unknown filters, and more readers than its limit', async () => {
    for (const query of ['?since=2026-01-01', '?size=1', '?status=none']) {
      assert.equal((await fetch(`${rig.gateway.adminUrl}/traffic/live${query}`)).status, 400, query);
    }
    const tails = await Promise.all(Array.from({ length: 16 }, () => openTail(rig.gateway.adminUrl)));
    const refused = await fetch(`${rig.gateway.adminUrl}/traffic/live`);
    assert.equal(refused.status, 503);
    assert.match(await refused.text(), /16 clients view these events already/);
    for (const tail of tails) await tail[Symbol.asyncDispose]();
    await until(async () => {
      const tail = await openTail(rig.gateway.adminUrl);
      await tail[Symbol.asyncDispose]();
      return tail.status === 200;
    });
  });

  it('answers HEAD without a stream', async () => {
    const answer = await fetch(`${rig.gateway.adminUrl}/traffic/live`, { method: 'HEAD' });
    assert.equal(answer.status, 200);
    assert.equal(await answer.text(), '');
  });

  it('is not broken by hostile bytes in paths and headers', async () => {
    await using tail = await openTail(rig.gateway.adminUrl, '?path=/h');
    const hostile = ['/h%0d%0aevent:%20end', '/h%0A%0Adata:%20x', '/h\xe2\x80\xa8\x85x', '/h"\\"</script>', '/h%00'];
    for (const path of hostile) {
      const response = await exchangeOne(
        rig.port,
        `GET ${path} HTTP/1.1\r\nHost: a.test\r\nUser-Agent: \xff\xc2\x85\t"data: x\r\n\r\n`,
      );
      assert.ok([200, 400, 404].includes(response.status));
    }
    await get('/h-last');
    await tail.find(({ data }) => data.path === '/h-last');
    // The fixture accepts nothing but the two fields of an event.
    assert.ok(tail.requests().length >= 4, String(tail.requests().length));
    assert.equal(
      tail.events.some(({ event }) => event === 'end'),
      false,
    );
  });

  it('selects requests under load, and says how many there were', async () => {
    await using busy = await startRig({ env: { SLUICEGATE_TRAFFIC_RECORDER_RATE: '50' } });
    await using tail = await openTail(busy.gateway.adminUrl);
    await using other = await openTail(busy.gateway.adminUrl, '?status=5xx');
    await flood(busy.port, 10, 400);
    let seen = 0;
    await until(() => {
      const rates = tail.events.filter(({ event }) => event === 'rate');
      seen = rates.reduce((sum, { data }) => sum + data.seen, 0);
      return seen >= 4_000;
    });
    assert.equal(seen, 4_000);
    const sampled = tail.requests().length;
    assert.ok(sampled >= 5 && sampled < 2_000, `${sampled} of 4000`);
    assert.equal(other.requests().length, 0);
  });
});

describe('a worker that is replaced', () => {
  it('records as its predecessor did', async () => {
    const ender = join(import.meta.dirname, '../support/plugins/ender.ts');
    await using own = await startRig({ env: { KONG_PLUGINS: `bundled,${ender}` } });
    await own.write('POST', '/plugins', { name: 'ender' });
    await using tail = await openTail(own.gateway.adminUrl, '?path=/after');
    await exchangeToEnd(own.port, 'GET /end HTTP/1.1\r\nHost: a.test\r\nX-End-Worker: 1\r\n\r\n');
    await until(async () => {
      await exchangeToEnd(own.port, 'GET /after HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n').catch(() => {});
      return tail.requests().length > 0;
    }, 20_000);
  });
});

describe('a slow reader', () => {
  it('misses records, and costs no memory', async () => {
    await using fast = await startRig({ env: { SLUICEGATE_TRAFFIC_RECORDER_RATE: '10000' } });
    const url = new URL(fast.gateway.adminUrl);
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    await once(socket, 'connect');
    socket.write(`GET /traffic/live HTTP/1.1\r\nHost: ${url.host}\r\n\r\n`);
    await once(socket, 'data');
    socket.pause();
    const padding = 'p'.repeat(1_500);
    await flood(fast.port, 10, 100, `/${padding}`);
    const before = residentMemory();
    await flood(fast.port, 10, 500, `/${padding}`);
    const grown = residentMemory() - before;
    assert.ok(grown < 100 * 1024 * 1024, `${grown} bytes more`);
    await using tail = await openTail(fast.gateway.adminUrl);
    let text = '';
    socket.setEncoding('latin1').on('data', (piece: string) => {
      text += piece;
    });
    socket.resume();
    // The reader catches up, and learns how much it has missed.
    await until(() => /event: dropped\ndata: {"events":[1-9]/.test(text), 15_000);
    assert.equal(tail.status, 200);
    socket.destroy();
  });
});

/** `connections` times `count` requests, pipelined. */
async function flood(port: number, connections: number, count: number, path = '/flood'): Promise<void> {
  await Promise.all(
    Array.from({ length: connections }, async () => {
      using client = await openClient(port);
      for (let left = count; left > 0; left -= 20) {
        client.write(`GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`.repeat(Math.min(20, left)));
        for (let read = 0; read < Math.min(20, left); read++) await client.readResponse();
      }
    }),
  );
}

describe('who may read', () => {
  let users: GuardedGateway;
  before(async () => {
    users = await startGuardedGateway();
  });
  after(() => users[Symbol.asyncDispose]());

  it('needs a token, and only an admin may clear', async () => {
    const url = `${users.gateway.adminUrl}/traffic/live`;
    assert.equal((await fetch(url)).status, 401);
    assert.equal((await fetch(url, { headers: { authorization: 'Bearer wrong' } })).status, 401);
    const origin = 'https://page.example';
    const page = await fetch(url, { headers: { authorization: `Bearer ${users.tokens.reader}`, origin } });
    assert.equal(page.headers.get('access-control-allow-origin'), origin);
    await page.body?.cancel();
    // Without a token, the page of another origin may not read the stream, nor take a place.
    const foreign = await fetch(`${rig.gateway.adminUrl}/traffic/live`, { headers: { origin } });
    assert.equal(foreign.status, 403);
    await foreign.body?.cancel();
    assert.equal((await users.reader('DELETE', '/traffic')).status, 403);
    assert.equal((await users.alice('DELETE', '/traffic')).status, 403);
    assert.equal((await users.admin('DELETE', '/traffic')).status, 204);
    const audit = await users.admin('GET', '/audit?method=DELETE');
    const [record] = audit.json['data'] as readonly Record[];
    assert.equal(record.path, '/traffic');
    assert.equal(record.actor.name, 'admin');
  });

  it('ends when the token is revoked, and not before', async () => {
    const issued = await users.admin('POST', '/admin-users/reader/tokens', { name: 'tail' });
    const { id, token } = issued.json as Record;
    const headers = { authorization: `Bearer ${token}` };
    const tail = await openTail(users.gateway.adminUrl, '', headers);
    await using other = await openTail(users.gateway.adminUrl, '', { authorization: `Bearer ${users.tokens.reader}` });
    const revoked = await users.admin('DELETE', `/admin-users/reader/tokens/${id}`);
    assert.equal(revoked.status, 204, revoked.text);
    const end = await tail.find(({ event }) => event === 'end');
    assert.deepEqual(end.data, { reason: 'signed_out' });
    await tail.ended;
    assert.equal((await fetch(`${users.gateway.adminUrl}/traffic/live`, { headers })).status, 401);
    assert.equal(
      other.events.some(({ event }) => event === 'end'),
      false,
    );
  });

  it('ends when the token expires', async () => {
    const issued = await users.admin('POST', '/admin-users/reader/tokens', { name: 'short', ttl: 3 });
    const { token } = issued.json as Record;
    const tail = await openTail(users.gateway.adminUrl, '', { authorization: `Bearer ${token}` });
    const end = await tail.find(({ event }) => event === 'end');
    assert.deepEqual(end.data, { reason: 'signed_out' });
    await tail.ended;
  });

  it('ends when the user gets another role', async () => {
    const tail = await openTail(users.gateway.adminUrl, '', { authorization: `Bearer ${users.tokens.alice}` });
    assert.equal((await users.admin('PATCH', '/admin-users/alice', { role: 'read', tag_patterns: [] })).status, 200);
    await tail.find(({ event }) => event === 'end');
    await tail.ended;
  });
});

describe('a node that stops', () => {
  it('ends live tails in an orderly way, without waiting for their readers', async () => {
    const gateway = await startTestGateway({});
    const tail = await openTail(gateway.adminUrl);
    const before = performance.now();
    await gateway.gateway.stop(true);
    const took = performance.now() - before;
    await tail.ended;
    assert.equal(tail.events.at(-1)?.event, 'end');
    assert.ok(took < 5_000, `${took} ms`);
    await gateway.stop();
  });
});
