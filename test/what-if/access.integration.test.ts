import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type GuardedGateway, startGuardedGateway } from '../../src/control/admin/access/users.fixture.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { until } from '../support/until.ts';
import type { Change, Json } from './what-if-rig.fixture.ts';

/** A caller can try what it may write, and gets the errors of the write itself. */

let guarded: GuardedGateway;

before(async () => {
  guarded = await startGuardedGateway({ env: { SLUICEGATE_TRAFFIC_RECORDER: '100' } });
  const { admin } = guarded;
  await admin('PUT', '/services/own', { url: 'http://127.0.0.1:1', tags: ['team-a'] });
  await admin('PUT', '/services/own/routes/own', { paths: ['/own'], tags: ['team-a'] });
  await admin('PUT', '/services/foreign', { url: 'http://127.0.0.1:1', tags: ['team-b'] });
  await admin('PUT', '/services/foreign/routes/foreign', { paths: ['/foreign'], tags: ['team-b'] });
  const port = guarded.gateway.proxyPort;
  await exchangeOne(port, 'GET /own HTTP/1.1\r\nHost: a\r\n\r\n');
  await exchangeOne(port, 'GET /foreign HTTP/1.1\r\nHost: a\r\n\r\n');
  await until(async () => (await admin('GET', '/traffic')).json['recorder']?.['kept' as never] === 2);
});
after(() => guarded[Symbol.asyncDispose]());

const ask = (changes: readonly unknown[]) => ({ changes });
const remove = (route: string): Change => ({ method: 'DELETE', path: `/routes/${route}` });

describe('who may ask', () => {
  it('nobody without a token, and nobody who only reads', async () => {
    assert.equal((await guarded.nobody('POST', '/what-if', ask([remove('own')]))).status, 401);
    assert.equal((await guarded.reader('POST', '/what-if', ask([remove('own')]))).status, 403);
  });

  it('an editor, about what it may write', async () => {
    const own = await guarded.alice('POST', '/what-if', ask([remove('own')]));
    assert.equal(own.status, 200, own.text);
    assert.equal(own.json['changed'], 1);
    const foreign = await guarded.alice('POST', '/what-if', ask([remove('own'), remove('foreign')]));
    const real = await guarded.alice('DELETE', '/routes/foreign');
    assert.equal(foreign.status, 403);
    assert.deepEqual(foreign.json, { ...real.json, change: 1 });
    const untagged = await guarded.alice(
      'POST',
      '/what-if',
      ask([{ method: 'PUT', path: '/services/new', body: { host: 'x' } }]),
    );
    assert.equal(untagged.status, 403);
  });

  it('an editor not about a whole config, admin users or what is no config', async () => {
    const document = { config: { _format_version: '3.0' } };
    assert.equal((await guarded.alice('POST', '/what-if', document)).status, 403);
    assert.equal((await guarded.admin('POST', '/what-if', document)).status, 200);
    for (const change of [
      { method: 'POST', path: '/admin-users', body: { name: 'eve', role: 'admin' } },
      { method: 'POST', path: '/config/apply', body: {} },
      { method: 'DELETE', path: '/traffic' },
    ]) {
      const { status } = await guarded.admin('POST', '/what-if', ask([change]));
      assert.equal(status, 404, change.path);
    }
  });
});

describe('errors', () => {
  it('are those of the write, with the number of the change', async () => {
    const { admin } = guarded;
    const fine = { method: 'PUT', path: '/services/fine', body: { host: 'x' } };
    for (const { method, path, body } of [
      { method: 'POST', path: '/services/own/routes', body: { paths: 'no' } },
      { method: 'POST', path: '/routes', body: { name: 'own', paths: ['/x'] } },
      { method: 'POST', path: '/routes/own/plugins', body: { name: 'key-authh' } },
      { method: 'POST', path: '/routes/own/plugins', body: { name: 'rate-limiting', config: { minute: -1 } } },
      {
        method: 'POST',
        path: '/routes',
        body: { paths: ['/x'], service: { id: '8a0e0b62-2f9b-4f5c-9c4e-1d2f3a4b5c6d' } },
      },
      { method: 'PATCH', path: '/routes/missing', body: {} },
      { method: 'POST', path: '/nowhere', body: {} },
      { method: 'PATCH', path: '/routes', body: {} },
      { method: 'PUT', path: '/routes/%zz', body: {} },
    ]) {
      const tried = await admin('POST', '/what-if', ask([fine, { method, path, body }]));
      const real = await admin(method, path, body);
      assert.ok(real.status >= 400, path);
      assert.equal(tried.status, real.status, `${method} ${path}: ${tried.text}`);
      const { change, ...rest } = tried.json;
      assert.equal(change, 1);
      if (real.json['message'] !== undefined && real.status !== 404) assert.deepEqual(rest, real.json);
    }
    assert.equal((await admin('GET', '/services/fine')).status, 404);
  });

  it('name the fields of a body that is not valid', async () => {
    const { admin } = guarded;
    for (const [body, field] of [
      [{}, '@entity'],
      [{ changes: [remove('own')], config: {} }, '@entity'],
      [{ changes: [] }, 'changes'],
      [{ changes: 'x' }, 'changes'],
      [{ changes: [null] }, 'changes.0'],
      [{ changes: [{ method: 'GET', path: '/routes' }] }, 'changes.0'],
      [{ changes: [{ method: 'POST', path: '/routes?x=1' }] }, 'changes.0'],
      [{ changes: [{ method: 'POST', path: 'routes' }] }, 'changes.0'],
      [{ changes: [{ ...remove('own'), more: 1 }] }, 'changes.0'],
      [{ changes: [{ method: 'POST', path: '/routes', body: [] }] }, 'changes.0'],
      [{ changes: [remove('own')], requests: 0 }, 'requests'],
      [{ changes: [remove('own')], requests: 1e9 }, 'requests'],
      [{ changes: [remove('own')], other: 1 }, 'other'],
      [{ config: 7 }, 'config'],
    ] as const) {
      const { status, json } = await admin('POST', '/what-if', body);
      assert.equal(status, 400, JSON.stringify(body));
      assert.ok(field in (json['fields'] as Json), `${JSON.stringify(body)}: ${JSON.stringify(json)}`);
    }
  });

  it('refuses very many changes and very large documents, and goes on', async () => {
    const { admin } = guarded;
    const many = Array.from({ length: 10_000 }, (_, number) => ({
      method: 'PUT',
      path: `/services/s${number}`,
      body: {},
    }));
    const refused = await admin('POST', '/what-if', ask(many));
    assert.ok([400, 413].includes(refused.status), refused.text.slice(0, 200));
    const huge = await admin('POST', '/what-if', { config: `# ${'x'.repeat(30_000_000)}` });
    assert.ok([400, 413].includes(huge.status), huge.text.slice(0, 200));
    const services = Array.from({ length: 400 }, (_, number) => ({
      method: 'PUT',
      path: `/services/s${number}`,
      body: { host: 'x' },
    }));
    const began = performance.now();
    const { status } = await admin('POST', '/what-if', ask(services));
    assert.ok([200, 413].includes(status));
    assert.ok(performance.now() - began < 20_000);
    assert.equal((await admin('GET', '/services/s1')).status, 404);
  });

  it('shows no secret of a change or of a request', async () => {
    const { admin, gateway } = guarded;
    await exchangeOne(
      gateway.proxyPort,
      'GET /own?apikey=secret-of-a-client HTTP/1.1\r\nHost: a\r\nCookie: s=secret-cookie\r\n\r\n',
    );
    const { text } = await admin(
      'POST',
      '/what-if',
      ask([
        { method: 'PUT', path: '/consumers/eve' },
        { method: 'POST', path: '/consumers/eve/key-auth', body: { key: 'secret-of-eve' } },
        { method: 'POST', path: '/routes/own/plugins', body: { name: 'key-auth' } },
      ]),
    );
    assert.doesNotMatch(text, /secret/);
    const traffic = await admin('GET', '/traffic');
    for (const { id } of traffic.json['data'] as Json[]) {
      assert.doesNotMatch((await admin('GET', `/traffic/${id}`)).text, /secret-of-a-client|secret-cookie/);
    }
  });
});

describe('without a recording', () => {
  it('switches the recorder on and says so', async () => {
    await using off = await startGuardedGateway();
    await off.admin('PUT', '/services/own', { url: 'http://127.0.0.1:1' });
    await off.admin('PUT', '/services/own/routes/own', { paths: ['/own'] });
    const first = await off.admin('POST', '/what-if', ask([remove('own')]));
    assert.equal(first.status, 200, first.text);
    assert.equal((first.json['requests'] as Json).kept, 0);
    assert.match(String(first.json['note']), /The recorder is on from now/);
    await exchangeOne(off.gateway.proxyPort, 'GET /own HTTP/1.1\r\nHost: a\r\n\r\n');
    await until(async () => {
      const { json } = await off.admin('POST', '/what-if', ask([remove('own')]));
      return (json['requests'] as Json).kept === 1 && json['changed'] === 1;
    });
  });
});
