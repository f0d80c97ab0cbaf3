import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { test } from 'node:test';
import { startRig } from '../../../../../test/support/rig.ts';
import { until } from '../../../../../test/support/until.ts';
import { startGuardedGateway, withToken } from '../../access/users.fixture.ts';
import { type EventClient, openEvents, type SeenEvent } from './event-client.fixture.ts';
import { maxViewers } from './live-overview.ts';

const bearer = (token: string): Readonly<Record<string, string>> => ({ authorization: `Bearer ${token}` });

/** Milliseconds within which a stream ends whose caller was refused: two checks. */
const checkTime = 15_000;

async function reasonOf(client: EventClient): Promise<unknown> {
  await until(() => client.events('end').length > 0, checkTime);
  await client.ended;
  return client.events('end')[0]?.data['reason'];
}

function times(events: readonly SeenEvent[]): readonly number[] {
  return events.map(({ data }) => Number(data['time']));
}

test('a stream begins with the past, and continues each second without a gap', async () => {
  await using rig = await startRig();
  const { gateway } = rig;
  using first = await openEvents(`${gateway.adminUrl}/overview/live?history=0`);
  assert.equal(first.status, 200);
  assert.equal(first.headers['content-type'], 'text/event-stream; charset=utf-8');
  assert.equal(first.headers['cache-control'], 'no-store');
  await first.seen('second', (events) => events.length >= 3);
  const [state] = first.events('state');
  assert.deepEqual(state?.data['database'], { kind: 'sqlite', reachable: true });
  using second = await openEvents(`${gateway.adminUrl}/overview/live`);
  await second.seen('second', (events) => events.length >= 5);
  const seen = times(second.events('second'));
  assert.deepEqual(
    seen,
    seen.map((_, at) => seen[0]! + at),
  );
  assert.ok(seen[0]! <= times(first.events('second'))[0]!, 'the past is included');
  for (const { data } of second.events('second')) assert.ok(Math.abs(Number(data['seconds']) - 1) < 0.9);
  using short = await openEvents(`${gateway.adminUrl}/overview/live?duration=2&history=1`);
  await short.ended;
  assert.equal(await reasonOf(short), 'finished');
  const count = short.events('second').length;
  assert.ok(count >= 2 && count <= 4, `${count}`);
});

test('a state that changes is sent once, and only its part', async () => {
  await using rig = await startRig();
  const { gateway } = rig;
  using live = await openEvents(`${gateway.adminUrl}/overview/live`);
  await live.seen('state');
  await rig.write('PUT', '/services/backend/routes/other', { paths: ['/other'] });
  const { id } = await rig.write('POST', '/routes/other/plugins', {
    name: 'http-log',
    config: { http_endpoint: '{vault://env/endpoint}' },
  });
  const failuresIn = ({ data }: SeenEvent) =>
    ((data['config'] as { failures: { data: readonly { id: string }[] } } | undefined)?.failures.data ?? []).length;
  await live.seen(
    'state',
    (events) => failuresIn(events.at(-1)!) === 1 || events.some((event) => failuresIn(event) === 1),
  );
  const changed = live.events('state').slice(1);
  assert.ok(changed.every(({ data }) => data['certificates'] === undefined && data['workers'] === undefined));
  const shown = changed.find((event) => failuresIn(event) === 1)?.data['config'];
  assert.match(JSON.stringify(shown), new RegExp(String(id)));
});

test('parameters that are wrong or unknown are refused', async () => {
  await using rig = await startRig();
  for (const query of ['history=-1', 'history=301', 'history=x', 'duration=0', 'seconds=3', 'history=1&history=2']) {
    const { status } = await rig.gateway.admin('GET', `/overview/live?${query}`);
    assert.equal(status, 400, query);
  }
});

test('every role may view it, and nobody without a token', async () => {
  await using users = await startGuardedGateway();
  const url = `${users.gateway.adminUrl}/overview/live?duration=1`;
  for (const token of Object.values(users.tokens)) {
    using live = await openEvents(url, bearer(token));
    assert.equal(live.status, 200);
    assert.equal(await reasonOf(live), 'finished');
  }
  using nobody = await openEvents(url);
  assert.equal(nobody.status, 401);
  assert.equal((await users.reader('GET', '/overview')).status, 200);
  assert.equal((await users.nobody('GET', '/overview')).status, 401);
  assert.equal((await users.reader('HEAD', '/overview/live')).status, 200);
});

test('a stream ends when its token is revoked or expires, and when the user has another role or is deleted', async () => {
  await using users = await startGuardedGateway();
  const { admin, gateway } = users;
  const url = `${gateway.adminUrl}/overview/live?history=0`;
  const open = async (name: string, body: object = {}): Promise<EventClient> => {
    await admin('POST', '/admin-users', { name, role: 'edit', tag_patterns: ['x'] });
    const { json } = await admin('POST', `/admin-users/${name}/tokens`, { name: 'live', ...body });
    const client = await openEvents(url, bearer(String(json['token'])));
    assert.equal(client.status, 200);
    return client;
  };
  using stays = await openEvents(url, bearer(users.tokens.reader));
  using revoked = await open('a');
  using expired = await open('b', { ttl: 1 });
  using demoted = await open('c');
  using deleted = await open('d');
  await admin('DELETE', '/admin-users/a/tokens/live');
  await admin('PATCH', '/admin-users/c', { role: 'read', tag_patterns: null });
  await admin('DELETE', '/admin-users/d');
  for (const client of [revoked, expired, demoted, deleted]) assert.equal(await reasonOf(client), 'signed_out');
  assert.deepEqual(stays.events('end'), []);
  const before = stays.events('second').length;
  await stays.seen('second', (events) => events.length > before);
});

test('streams without sign-in end when the first admin user is created', async () => {
  await using rig = await startRig();
  const { gateway } = rig;
  using live = await openEvents(`${gateway.adminUrl}/overview/live`);
  const admin = withToken(gateway.adminUrl, null);
  assert.equal((await admin('POST', '/admin-users', { name: 'ada', role: 'admin' })).status, 201);
  assert.equal(await reasonOf(live), 'signed_out');
});

test('a page of another site gets no stream without a token; one with a token may read it', async () => {
  await using users = await startGuardedGateway();
  await using open = await startRig();
  const foreign = { origin: 'https://page.example', 'sec-fetch-site': 'cross-site' };
  const url = `${open.gateway.adminUrl}/overview/live?duration=1`;
  for (const headers of [foreign, { 'sec-fetch-site': 'cross-site' }]) {
    using refused = await openEvents(url, headers);
    assert.equal(refused.status, 403);
  }
  using own = await openEvents(url, { origin: open.gateway.adminUrl });
  assert.equal(own.status, 200);
  using signed = await openEvents(`${users.gateway.adminUrl}/overview/live?duration=1`, {
    ...foreign,
    ...bearer(users.tokens.reader),
  });
  assert.equal(signed.status, 200);
  assert.equal(signed.headers['access-control-allow-origin'], 'https://page.example');
});

test('there are not more viewers than the maximum, and one that leaves makes room', async () => {
  await using rig = await startRig();
  const url = `${rig.gateway.adminUrl}/overview/live?history=0`;
  const viewers = await Promise.all(Array.from({ length: maxViewers }, () => openEvents(url)));
  assert.ok(viewers.every(({ status }) => status === 200));
  const busy = await openEvents(url);
  assert.deepEqual([busy.status, busy.headers['retry-after']], [503, '5']);
  viewers[0]?.[Symbol.dispose]();
  await until(async () => {
    using next = await openEvents(`${url}&duration=1`);
    return next.status === 200;
  });
  for (const viewer of [...viewers, busy]) viewer[Symbol.dispose]();
});

test('streams end when the node stops, and do not delay it', async () => {
  const rig = await startRig({ settings: { drainTimeout: 30_000 } });
  using live = await openEvents(`${rig.gateway.adminUrl}/overview/live`);
  using stuck = await openEvents(`${rig.gateway.adminUrl}/overview/live?history=300`);
  await live.seen('second');
  stuck.pause();
  const begun = performance.now();
  await rig.gateway.gateway.stop(true);
  assert.ok(performance.now() - begun < 10_000, 'well below the time for requests in flight');
  assert.equal(await reasonOf(live), 'closing');
  await rig.close();
});

test('HTTP/2 carries the stream, and cancelling it makes room', async () => {
  await using rig = await startRig({ env: { KONG_ADMIN_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl http2' } });
  const port = rig.gateway.gateway.addresses.admin.find(({ ssl }) => ssl)?.port;
  const session = connect(`https://localhost:${port}`, { rejectUnauthorized: false });
  const open = async (): Promise<void> => {
    const stream = session.request({ ':path': '/overview/live?history=1' });
    let text = '';
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    await until(() => text.includes('event: second') && text.includes('event: state'));
    stream.close();
  };
  // More than may view at the same time.
  for (let at = 0; at < maxViewers + 10; at++) await open();
  session.destroy();
});
