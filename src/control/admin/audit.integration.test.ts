import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startTestAdmin, type TestAdmin, type TestAdminOptions } from './admin.fixture.ts';
import { firstCertificate } from './certificate.fixture.ts';

type Record_ = Readonly<Record<string, unknown>>;

async function recordsOf(admin: TestAdmin, query = '', headers: Readonly<Record<string, string>> = {}) {
  const { status, json, text } = await admin.call('GET', `/audit${query}`, undefined, headers);
  assert.equal(status, 200, text);
  return json['data'] as readonly Record_[];
}

function field(record: Record_ | undefined, side: 'before' | 'after', name: string): unknown {
  const fields = record?.[side];
  return typeof fields === 'object' && fields !== null ? (fields as Record_)[name] : undefined;
}

async function withAdmin(options: TestAdminOptions, work: (admin: TestAdmin) => Promise<void>): Promise<void> {
  await using admin = await startTestAdmin(options);
  await work(admin);
}

test('each write has a record of who, when, what and from where; newest first', () =>
  withAdmin({}, async (admin) => {
    const start = Date.now() - 1000;
    const created = await admin.call('POST', '/services', { name: 'users', host: 'a.test' });
    const id = String(created.json['id']);
    await admin.call('PATCH', '/services/users', { host: 'b.test', tags: ['x'] });
    await admin.call('DELETE', '/services/users');
    const [removed, changed, made] = await recordsOf(admin);
    for (const record of [removed, changed, made]) {
      const at = String(record?.['at']);
      assert.match(at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.ok(Date.parse(at) >= start && Date.parse(at) <= Date.now() + 1000);
      assert.deepEqual(record?.['actor'], { kind: 'anonymous', name: 'anonymous' });
      assert.deepEqual([record?.['peer'], record?.['client']], ['127.0.0.1', '127.0.0.1']);
      assert.deepEqual([record?.['entity'], record?.['entity_id'], record?.['name']], ['services', id, 'users']);
    }
    const shape = (record: Record_ | undefined) => [
      record?.['operation'],
      record?.['method'],
      record?.['path'],
      record?.['status'],
    ];
    assert.deepEqual(shape(made), ['create', 'POST', '/services', 201]);
    assert.deepEqual(shape(changed), ['update', 'PATCH', '/services/users', 200]);
    assert.deepEqual(shape(removed), ['delete', 'DELETE', '/services/users', 204]);
    assert.equal(made?.['before'], null);
    assert.equal(field(made, 'after', 'host'), 'a.test');
    assert.equal(field(made, 'after', 'created_at'), created.json['created_at']);
    assert.deepEqual(changed?.['before'], { host: 'a.test', tags: null });
    assert.deepEqual(changed?.['after'], { host: 'b.test', tags: ['x'] });
    assert.equal(field(removed, 'before', 'host'), 'b.test');
    assert.equal(removed?.['after'], null);
    const requests = admin.accessLog.map(({ requestId }) => requestId);
    assert.ok(requests.includes(String(made?.['request_id'])));
    assert.deepEqual((await admin.call('GET', `/audit/${String(made?.['id'])}`)).json, made);
    assert.equal((await admin.call('GET', '/audit/nobody')).status, 404);
  }));

test('refusals, reads, checks and deletions of nothing have no record', () =>
  withAdmin({}, async (admin) => {
    assert.equal((await admin.call('POST', '/services', { host: 7 })).status, 400);
    await admin.call('POST', '/services', { name: 'a', host: 'a.test' });
    assert.equal((await admin.call('POST', '/services', { name: 'a', host: 'a.test' })).status, 409);
    assert.equal((await admin.call('DELETE', '/services/nobody')).status, 204);
    assert.equal((await admin.call('POST', '/schemas/services/validate', { host: 'a.test' })).status, 200);
    assert.equal((await admin.call('POST', '/config', {})).status, 400);
    await admin.call('GET', '/services');
    assert.equal((await recordsOf(admin)).length, 1);
  }));

test('cascaded deletions are counted, and each row that a request changes has a record', () =>
  withAdmin({}, async (admin) => {
    await admin.call('POST', '/upstreams', { name: 'u.test' });
    for (const target of ['10.0.0.1:80', '10.0.0.2:80']) {
      await admin.call('POST', '/upstreams/u.test/targets', { target });
    }
    await admin.call('DELETE', '/upstreams/u.test');
    const [removed] = await recordsOf(admin);
    assert.deepEqual(removed?.['cascade'], { targets: 2 });

    await admin.call('POST', '/certificates', { ...firstCertificate, snis: ['a.test', 'b.test'] });
    const certificate = (await recordsOf(admin)).slice(0, 3);
    assert.deepEqual(certificate.map((record) => [record['entity'], record['name']]).toReversed(), [
      ['certificates', null],
      ['snis', 'a.test'],
      ['snis', 'b.test'],
    ]);
    assert.equal(new Set(certificate.map((record) => record['request_id'])).size, 1);
    assert.equal(field(certificate[2], 'after', 'key'), 'REDACTED');
    assert.ok(!JSON.stringify(await recordsOf(admin)).includes('PRIVATE KEY'));
  }));

test('an action on something other than an entity has a record, too', () =>
  withAdmin({}, async (admin) => {
    assert.equal((await admin.call('PUT', '/debug/node/log-level/debug?timeout=5&token=hidden')).status, 200);
    const [record] = await recordsOf(admin);
    assert.deepEqual(
      [record?.['operation'], record?.['path'], record?.['entity'], record?.['details']],
      ['action', '/debug/node/log-level/debug', null, { query: { timeout: '5', token: 'REDACTED' }, fields: [] }],
    );
    assert.equal((await admin.call('PUT', '/debug/node/log-level/nonsense')).status, 400);
    assert.equal((await recordsOf(admin)).length, 1);
  }));

test('the token determines the actor and is not recorded; a wrong one is logged, throttled', () =>
  withAdmin({ settings: { adminToken: 's3cret-token', trustedIps: ['127.0.0.0/8', '10.0.0.0/8'] } }, async (admin) => {
    const authorization = { authorization: 'Bearer s3cret-token' };
    await admin.call(
      'POST',
      '/services',
      { name: 'a', host: 'a.test' },
      {
        ...authorization,
        'x-forwarded-for': '6.6.6.6, 203.0.113.7, 10.1.2.3',
      },
    );
    for (const wrong of ['Bearer nope', 'Bearer other', '']) {
      const { status } = await admin.call('DELETE', '/services/a', undefined, { authorization: wrong });
      assert.equal(status, 401);
    }
    const records = await recordsOf(admin, '', authorization);
    assert.equal(records.length, 1);
    assert.deepEqual(records[0]?.['actor'], { kind: 'token', name: 'admin-token' });
    assert.deepEqual([records[0]?.['peer'], records[0]?.['client']], ['127.0.0.1', '203.0.113.7']);
    assert.equal(admin.warnings.length, 1);
    assert.equal(admin.warnings[0]?.fields['peer'], '127.0.0.1');
    assert.ok(!JSON.stringify([records, admin.warnings]).includes('s3cret'));
  }));

test('the forwarded addresses of an untrusted peer are ignored', () =>
  withAdmin({}, async (admin) => {
    await admin.call('POST', '/services', { host: 'a.test' }, { 'x-forwarded-for': '203.0.113.7' });
    assert.equal((await recordsOf(admin))[0]?.['client'], '127.0.0.1');
  }));

test('records can be filtered, and the links of pages keep the filter', () =>
  withAdmin({}, async (admin) => {
    for (const name of ['a', 'b', 'c']) await admin.call('POST', '/services', { name, host: 'h.test' });
    await admin.call('POST', '/routes', { name: 'r', paths: ['/r'] });
    await admin.call('DELETE', '/services/a');
    const names = async (query: string) => (await recordsOf(admin, query)).map((record) => record['name']);
    assert.deepEqual(await names('?entity=services&method=post'), ['c', 'b', 'a']);
    assert.deepEqual(await names('?actor=admin-token'), []);
    const [route] = await recordsOf(admin, '?entity=routes');
    assert.deepEqual(await names(`?request_id=${String(route?.['request_id'])}`), ['r']);
    assert.deepEqual(await names(`?id=${String(route?.['entity_id'])}&entity=routes`), ['r']);
    assert.deepEqual(await names(`?before=${String(route?.['at'])}&entity=services&method=post`), ['c', 'b', 'a']);
    assert.deepEqual(await names('?since=2999-01-01'), []);
    assert.equal((await names('?since=2001-01-01T00:00:00Z')).length, 5);
    assert.equal((await admin.call('GET', '/audit?since=yesterday')).status, 400);

    const walked: unknown[] = [];
    let next: unknown = '/audit?entity=services&size=1';
    while (typeof next === 'string') {
      const { json } = await admin.call('GET', next);
      walked.push(...(json['data'] as readonly Record_[]).map((record) => record['name']));
      next = json['next'];
    }
    assert.deepEqual(walked, ['a', 'c', 'b', 'a']);
    assert.deepEqual(await names('?limit=2'), ['a', 'b']);
    assert.deepEqual(await names('?page=2&limit=2'), ['c', 'r']);
    assert.deepEqual(await names(`?before=${String(route?.['id'])}`), ['c', 'b', 'a']);
  }));

test('an invalid filter is refused, so that it cannot return all records', () =>
  withAdmin({}, async (admin) => {
    await admin.call('POST', '/services', { name: 'a', host: 'a.test' });
    const refused = async (query: string, option: string, pattern: RegExp) => {
      const { status, json } = await admin.call('GET', `/audit?${query}`);
      assert.equal(status, 400, query);
      assert.match(String((json['options'] as Record_)[option]), pattern);
    };
    await refused('operation=delete', 'operation', /unknown parameter/);
    await refused('entity=service', 'entity', /'service' is none of .*services/);
    assert.equal((await recordsOf(admin, '?entity=services&size=1')).length, 1);
  }));

test('a record is bounded, and says what is omitted', () =>
  withAdmin({}, async (admin) => {
    const tags = Array.from({ length: 4000 }, (_, index) => `tag-${index}-${'x'.repeat(20)}`);
    await admin.call('POST', '/services', { name: 'big', host: 'a.test', tags });
    const [record] = await recordsOf(admin);
    assert.equal(record?.['truncated'], true);
    assert.match(String(field(record, 'after', 'tags')), /^\d+ bytes, left out$/);
    assert.equal(field(record, 'after', 'host'), 'a.test');
  }));

test('when it is off, nothing is recorded', () =>
  withAdmin({ settings: { audit: { enabled: false, retention: 0 } } }, async (admin) => {
    await admin.call('POST', '/services', { host: 'a.test' });
    await admin.call('PUT', '/debug/node/log-level/debug');
    assert.deepEqual(await recordsOf(admin), []);
  }));
