import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answer, answerEach } from '../support/raw-backend.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';
import type { Record } from './traffic-rig.fixture.ts';

/** What the recorder keeps of requests, and how it is read. */

let rig: Rig;

before(async () => {
  rig = await startRig({
    env: {
      SLUICEGATE_TRAFFIC_RECORDER: '200',
      SLUICEGATE_TRAFFIC_RECORDER_RATE: '1000',
      KONG_TRUSTED_IPS: '127.0.0.1',
    },
    script: answerEach(({ target, connection }) => {
      if (target.includes('/teapot')) {
        connection.end('HTTP/1.1 503 Nope\r\nContent-Length: 0\r\n\r\n');
        return null;
      }
      if (target.includes('/silent')) return null;
      return answer(`served ${target}`, 'X-Own: yes\r\n');
    }),
    route: { paths: ['/open'], methods: ['GET', 'POST'] },
  });
  await rig.write('PUT', '/services/backend/routes/locked', { paths: ['/locked'], strip_path: false });
  await rig.write('POST', '/routes/locked/plugins', { name: 'key-auth' });
  await rig.write('POST', '/routes/locked/plugins', { name: 'rate-limiting', config: { hour: 2, policy: 'local' } });
  await rig.write('POST', '/routes/locked/plugins', {
    name: 'request-transformer',
    config: { add: { headers: ['X-Added:by the plugin'] } },
  });
  await rig.write('PUT', '/consumers/ann', { custom_id: 'a-1' });
  await rig.write('POST', '/consumers/ann/key-auth', { key: 'key-of-ann' });
  await rig.write('PUT', '/services/dead', { url: 'http://127.0.0.1:1', retries: 1 });
  await rig.write('PUT', '/services/dead/routes/dead', { paths: ['/dead'] });
  await rig.write('PUT', '/services/slow', { url: rig.backend.url, read_timeout: 50, retries: 0 });
  await rig.write('PUT', '/services/slow/routes/slow', { paths: ['/slow'], strip_path: false });
  await rig.write('PUT', '/upstreams/empty', {});
  await rig.write('PUT', '/services/empty', { host: 'empty' });
  await rig.write('PUT', '/services/empty/routes/empty', { paths: ['/empty'] });
  await rig.write('PUT', '/services/off', { url: rig.backend.url, enabled: false });
  await rig.write('PUT', '/services/off/routes/off', { paths: ['/off'] });
});
after(() => rig.close());

/** Sends a request and waits for its record. */
async function recorded(head: string): Promise<Record> {
  const response = await exchangeOne(rig.port, `${head}\r\nHost: a.test\r\n\r\n`);
  const id = response.get('x-kong-request-id') ?? '';
  assert.match(id, /^[0-9a-f]{32}$/);
  let record: Record = null;
  await until(async () => {
    const found = await rig.gateway.admin('GET', `/traffic/${id}`);
    record = found.body;
    return found.status === 200;
  });
  return record;
}

async function listed(query: string): Promise<readonly Record[]> {
  const { status, body } = await rig.gateway.admin('GET', `/traffic?${query}`);
  assert.equal(status, 200, JSON.stringify(body));
  return body['data'] as Record[];
}

describe('a record', () => {
  it('says where a request went, who answered, and how long each step took', async () => {
    const record = await recorded('GET /open/a?x=1 HTTP/1.1\r\nX-Client: me');
    assert.equal(record.method, 'GET');
    assert.equal(record.path, '/open/a');
    assert.equal(record.status, 200);
    assert.equal(record.by, 'backend');
    assert.equal(record.who, `127.0.0.1:${rig.backend.port}`);
    assert.equal(record.backend, record.who);
    assert.equal(record.reason, null);
    assert.equal(record.route.name, 'all');
    assert.equal(record.service.name, 'backend');
    assert.equal(record.client, '127.0.0.1');
    assert.equal(record.tries, 1);
    assert.equal(record.traced, true);
    assert.ok(Math.abs(Date.parse(record.at) - Date.now()) < 10_000);
    assert.ok(record.duration >= record.gateway && record.upstream > 0 && record.receive >= 0);
    const { explanation } = record;
    assert.match(explanation.summary, /^GET \/open\/a matched the route all and was answered 200 in .* by the backend/);
    assert.equal(explanation.request.headers['x-client'], 'me');
    assert.equal(explanation.answer.headers['x-own'], 'yes');
    assert.equal(explanation.upstream_request.uri, '/open/a?x=1');
    assert.equal(explanation.attempts.length, 1);
    assert.equal(explanation.attempts[0].status, 200);
    assert.ok(explanation.attempts[0].ms >= 0);
    const steps = explanation.timeline.map(({ what }: Record) => what);
    assert.ok(steps.includes('router') && steps.includes('attempt') && steps.includes('end'), steps.join());
    assert.equal(explanation.router.matched.name, 'all');
    const locked = explanation.router.others.find(({ name }: Record) => name === 'locked');
    assert.deepEqual(locked.failed, { condition: 'path', wanted: ['/locked'], got: ['/open/a'] });
    assert.equal('note' in explanation, false);
  });

  it('says what each plugin changed, and names the consumer', async () => {
    const record = await recorded('GET /locked HTTP/1.1\r\napikey: key-of-ann');
    assert.equal(record.status, 200);
    assert.equal(record.consumer.username, 'ann');
    assert.match(record.credential, /^[0-9a-f-]{36}$/);
    const { plugins } = record.explanation;
    assert.deepEqual(
      plugins.map(({ name, ran }: Record) => [name, ran]),
      [
        ['key-auth', true],
        ['rate-limiting', true],
        ['request-transformer', true],
      ],
    );
    assert.deepEqual(plugins[0].phases[0].changed.slice(0, 1), ['consumer ann']);
    assert.ok(plugins[2].phases[0].changed.some((change: string) => /^request header x-added /.test(change)));
  });

  it('explains a refusal in one sentence, with what caused it', async () => {
    const refused = await recorded('GET /locked HTTP/1.1');
    assert.equal(refused.status, 401);
    assert.deepEqual([refused.by, refused.who], ['plugin', 'key-auth']);
    assert.equal(refused.reason, 'The plugin key-auth answered 401: No API key found in request.');
    const { cause } = refused.explanation.why;
    assert.equal(cause.entity, 'plugins');
    const plugin = await rig.gateway.admin('GET', `/plugins/${cause.id}`);
    assert.equal(plugin.body['name'], 'key-auth');

    const lost = await recorded('PUT /open HTTP/1.1');
    assert.equal(lost.status, 404);
    assert.equal(lost.reason, 'No route matched: the nearest, all, wants the method GET, POST.');
    assert.deepEqual([lost.explanation.why.cause.entity, lost.explanation.why.cause.field], ['routes', 'methods']);

    const off = await recorded('GET /off HTTP/1.1');
    assert.equal(off.reason, 'No route matched: off would, but its service is disabled.');
    const { id } = (await rig.gateway.admin('GET', '/services/off')).body;
    assert.deepEqual([off.explanation.why.cause.id, off.explanation.why.cause.field], [id, 'enabled']);

    const dead = await recorded('GET /dead HTTP/1.1');
    assert.equal(dead.status, 502);
    assert.equal(dead.tries, 2);
    assert.match(dead.reason, /^The backend could not be reached: connect ECONNREFUSED 127\.0\.0\.1:1\.$/);
    assert.equal(dead.explanation.attempts.length, 2);
    assert.equal(dead.explanation.attempts[0].failed, true);

    const slow = await recorded('GET /slow/silent HTTP/1.1');
    assert.equal(slow.status, 504);
    assert.equal(
      slow.reason,
      'The answer of the backend timed out (read_timeout of the service): no answer within 50 ms.',
    );
    assert.deepEqual([slow.explanation.why.cause.name, slow.explanation.why.cause.field], ['slow', 'read_timeout']);

    const empty = await recorded('GET /empty HTTP/1.1');
    assert.equal(empty.status, 503);
    assert.match(empty.reason, /^The upstream empty has no usable target: the upstream has no target/);
    assert.equal(empty.explanation.why.cause.entity, 'upstreams');

    const own = await recorded('GET /open/teapot HTTP/1.1');
    assert.equal(own.reason, `The backend at 127.0.0.1:${rig.backend.port} itself answered 503.`);

    await recorded('GET /locked HTTP/1.1\r\napikey: key-of-ann');
    const limited = await recorded('GET /locked HTTP/1.1\r\napikey: key-of-ann');
    assert.equal(limited.status, 429);
    assert.equal(limited.reason, 'The plugin rate-limiting answered 429: API rate limit exceeded.');
  });
});

describe('an error among more requests than are recorded', () => {
  it('has a record without a timeline', async () => {
    await using busy = await startRig({
      env: { SLUICEGATE_TRAFFIC_RECORDER: '100', SLUICEGATE_TRAFFIC_RECORDER_RATE: '1' },
      route: { paths: ['/open'] },
    });
    await busy.write('PUT', '/services/backend/routes/locked', { paths: ['/locked'] });
    await busy.write('POST', '/routes/locked/plugins', { name: 'key-auth' });
    const send = (path: string) => exchangeOne(busy.port, `GET ${path} HTTP/1.1\r\nHost: a.test\r\n\r\n`);
    const late = async (path: string): Promise<Record> => {
      let found: Record;
      await until(async () => {
        // The first takes the place of the moment.
        await send('/open');
        await send(path);
        const { body } = await busy.gateway.admin('GET', `/traffic?path=${path}`);
        found = (body['data'] as Record[]).find(({ traced }) => traced === false);
        return found !== undefined;
      }, 20_000);
      return (await busy.gateway.admin('GET', `/traffic/${found.id}`)).body;
    };
    const refused = await late('/locked');
    assert.deepEqual([refused.status, refused.by, refused.who], [401, 'plugin', 'key-auth']);
    assert.equal(refused.reason, 'The plugin key-auth answered 401.');
    assert.equal(refused.explanation.why.cause.name, 'key-auth');
    const { plugins, attempts, timeline } = refused.explanation;
    assert.deepEqual([plugins, attempts, timeline], [null, null, null]);
    const lost = await late('/nowhere');
    assert.deepEqual([lost.status, lost.by], [404, 'gateway']);
    assert.match(lost.reason, /^No route matched: the nearest, (?:all|locked), wants the path \/(?:open|locked)\.$/);
    const { body } = await busy.gateway.admin('GET', '/traffic');
    const recorder = body['recorder'] as Record;
    assert.ok(recorder.sampled < recorder.seen, JSON.stringify(recorder));
  });
});

describe('GET /traffic', () => {
  before(async () => {
    assert.equal((await rig.gateway.admin('DELETE', '/traffic')).status, 204);
    await recorded('GET /open/one HTTP/1.1\r\nX-Real-IP: 10.1.2.3');
    await recorded('POST /open/two HTTP/1.1\r\nX-Real-IP: 2001:db8::7\r\nContent-Length: 0');
    await recorded('GET /none HTTP/1.1');
    await recorded('GET /locked/x HTTP/1.1');
    await recorded('GET /slow/silent HTTP/1.1');
  });

  it('lists the newest first, without explanations', async () => {
    const { body } = await rig.gateway.admin('GET', '/traffic');
    const data = body['data'] as Record[];
    assert.deepEqual(
      data.map(({ path }) => path),
      ['/slow/silent', '/locked/x', '/none', '/open/two', '/open/one'],
    );
    assert.ok(data.every((record) => !('explanation' in record)));
    const recorder = body['recorder'] as Record;
    assert.equal(recorder.state, 'always');
    assert.equal(recorder.kept, 5);
    assert.equal(recorder.dropped, 0);
    assert.ok(recorder.sampled >= 5 && recorder.seen >= recorder.sampled);
  });

  it('filters', async () => {
    const service = (await rig.gateway.admin('GET', '/services/slow')).body['id'];
    const expected: readonly (readonly [query: string, paths: readonly string[]])[] = [
      ['route=all', ['/open/two', '/open/one']],
      ['route=', ['/none']],
      ['route=&route=locked', ['/locked/x', '/none']],
      [`service=${service}`, ['/slow/silent']],
      ['consumer=ann', []],
      ['consumer=', ['/slow/silent', '/locked/x', '/none', '/open/two', '/open/one']],
      ['status=404', ['/none']],
      ['status=4xx', ['/locked/x', '/none']],
      ['status=401,5xx', ['/slow/silent', '/locked/x']],
      ['method=post', ['/open/two']],
      ['path=/open/', ['/open/two', '/open/one']],
      ['path=/open/o&path=/no', ['/none', '/open/one']],
      ['client=10.0.0.0/8', ['/open/one']],
      ['client=2001:db8::/32', ['/open/two']],
      ['client=10.1.2.4', []],
      ['min_duration=40', ['/slow/silent']],
      ['since=2020-01-01T00:00:00Z&until=2021-01-01', []],
      ['since=1577836800&status=404', ['/none']],
      ['status=2xx&method=GET', ['/open/one']],
    ];
    for (const [query, paths] of expected) {
      assert.deepEqual(
        (await listed(query)).map(({ path }) => path),
        paths,
        query,
      );
    }
  });

  it('pages in every style', async () => {
    const all = (await listed('')).map(({ id }) => id);
    const walk = async (first: string): Promise<readonly string[]> => {
      const found: string[] = [];
      for (let path: string | null = `/traffic?${first}`; path !== null; ) {
        const { status, body }: Record = await rig.gateway.admin('GET', path);
        assert.equal(status, 200, JSON.stringify(body));
        assert.ok(body.data.length <= 2);
        found.push(...body.data.map(({ id }: Record) => id));
        path = body.next;
      }
      return found;
    };
    assert.deepEqual(await walk('size=2'), all);
    assert.deepEqual(await walk('limit=2'), all.toReversed());
    assert.deepEqual(await walk('page=1&size=2'), all.toReversed());
    assert.deepEqual(
      await walk('size=1&status=4xx'),
      (await listed('status=4xx')).map(({ id }) => id),
    );
  });

  it('refuses what it does not know', async () => {
    for (const query of [
      'rout=all',
      'status=6xx',
      'status=',
      'client=a',
      'client=10.0.0.0/40',
      'since=now',
      'min_duration=-1',
    ]) {
      const { status, body } = await rig.gateway.admin('GET', `/traffic?${query}`);
      assert.equal(status, 400, query);
      assert.match(String(body['message']), new RegExp(query.split('=')[0] ?? ''), query);
    }
    assert.equal((await rig.gateway.admin('GET', '/traffic/nope')).status, 404);
  });

  it('keeps the newest within the limits', async () => {
    for (let sent = 0; sent < 210; sent++) await exchangeOne(rig.port, `GET /open/${sent} HTTP/1.1\r\nHost: a\r\n\r\n`);
    await until(async () => (await listed('size=1'))[0]?.path === '/open/209');
    const kept = await listed('size=1000');
    assert.ok(kept.length <= 200, String(kept.length));
    assert.equal((await rig.gateway.admin('GET', '/traffic')).body['recorder'] !== undefined, true);
    assert.equal((await listed('path=/open/one')).length, 0);
  });
});

describe('DELETE /traffic', () => {
  it('also forgets a request that has just ended', async () => {
    await exchangeOne(rig.gateway.proxyPort, 'GET /open/before HTTP/1.1\r\nHost: a\r\n\r\n');
    assert.equal((await rig.gateway.admin('DELETE', '/traffic')).status, 204);
    await exchangeOne(rig.gateway.proxyPort, 'GET /open/after HTTP/1.1\r\nHost: a\r\n\r\n');
    const kept = async (): Promise<readonly string[]> => {
      const { body } = await rig.gateway.admin('GET', '/traffic');
      return (body['data'] as Record[]).map(({ path }) => path);
    };
    await until(async () => (await kept()).includes('/open/after'));
    assert.deepEqual(await kept(), ['/open/after']);
  });
});
