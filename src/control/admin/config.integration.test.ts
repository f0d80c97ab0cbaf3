import assert from 'node:assert/strict';
import { request as httpRequest } from 'node:http';
import { test } from 'node:test';
import { startTestAdmin, type TestAdmin, type TestAdminOptions } from './admin.fixture.ts';
import { firstCertificate } from './certificate.fixture.ts';

async function withAdmin(options: TestAdminOptions, work: (admin: TestAdmin) => Promise<void>): Promise<void> {
  await using admin = await startTestAdmin(options);
  await work(admin);
}

const yaml = { 'content-type': 'application/yaml' };

interface ShownChange {
  readonly operation: string;
  readonly entity: string;
  readonly label?: string;
  readonly fields?: readonly string[];
  readonly before?: unknown;
  readonly after?: unknown;
}

const document = (services: readonly object[], more: object = {}): object => ({
  _format_version: '3.0',
  services,
  ...more,
});

async function apply(admin: TestAdmin, body: unknown, query = ''): Promise<Readonly<Record<string, unknown>>> {
  const { status, json } = await admin.call('POST', `/config/apply${query}`, body);
  assert.equal(status, 200, JSON.stringify(json));
  return json;
}

const changesOf = (json: Readonly<Record<string, unknown>>): readonly string[] =>
  (json['changes'] as readonly ShownChange[]).map(({ operation, entity, label, fields = [] }) =>
    [operation, entity, label, ...fields].join(' '),
  );

const certificateId = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
const certificates = [{ id: certificateId, ...firstCertificate, snis: [{ name: 'a.test' }] }];

const serviceNames = async (admin: TestAdmin): Promise<readonly unknown[]> => {
  const { json } = await admin.call('GET', '/services');
  return (json['data'] as readonly { name: string }[]).map(({ name }) => name).sort();
};

test('a document is applied as one version, which the workers have when the answer arrives', () =>
  withAdmin({}, async (admin) => {
    const a = { name: 'a', url: 'http://a.test', routes: [{ name: 'ra', paths: ['/a'] }] };
    const first = await apply(admin, document([a, { name: 'b', url: 'http://b.test' }]));
    assert.deepEqual(changesOf(first), ['create services a', 'create services b', 'create routes ra']);
    assert.deepEqual([first['created'], first['updated'], first['deleted'], first['unchanged']], [3, 0, 0, 0]);
    assert.equal(first['version'], await admin.store.version());
    assert.equal(admin.published.at(-1), first['version']);
    const second = await apply(admin, document([{ ...a, retries: 2 }]));
    assert.deepEqual(changesOf(second), ['update services a retries', 'delete services b']);
    assert.deepEqual((second['changes'] as readonly ShownChange[])[0]?.before, { retries: 5 });
    assert.deepEqual((second['changes'] as readonly ShownChange[])[0]?.after, { retries: 2 });
    const again = await apply(admin, document([{ ...a, retries: 2 }]));
    assert.deepEqual([again['version'], again['unchanged'], again['changes']], [null, 2, []]);
  }));

test('a document may be YAML, JSON, or the field of a form', () =>
  withAdmin({}, async (admin) => {
    const text = '_format_version: "3.0"\nservices:\n- name: y\n  url: http://y.test\n';
    const sent = await admin.call('POST', '/config/apply', text, yaml);
    assert.equal(sent.status, 200, sent.text);
    assert.deepEqual(await serviceNames(admin), ['y']);
    const form = await admin.call('POST', '/config/apply', `config=${encodeURIComponent(text.replaceAll('y', 'z'))}`, {
      'content-type': 'application/x-www-form-urlencoded',
    });
    assert.equal(form.status, 200, form.text);
    assert.deepEqual(await serviceNames(admin), ['z']);
    const field = await admin.call('POST', '/config/apply', { config: text });
    assert.deepEqual(changesOf(field.json), ['create services y', 'delete services z']);
    assert.equal((await admin.call('POST', '/config/apply', text, { 'content-type': 'text/plain' })).status, 415);
  }));

test('what would change is shown without secrets, and nothing is changed', () =>
  withAdmin({}, async (admin) => {
    const version = await admin.store.version();
    for (const path of ['/config/diff', '/config/apply?dry_run=1']) {
      const { status, json, text } = await admin.call('POST', path, document([], { certificates }));
      assert.equal(status, 200);
      assert.equal(json['version'], null);
      assert.ok(changesOf(json).includes('create snis a.test'));
      assert.doesNotMatch(text, /PRIVATE KEY/);
    }
    assert.equal(await admin.store.version(), version);
    const short = await admin.call(
      'POST',
      '/config/diff?changes=1',
      document([{ name: 'a', host: 'a' }, { host: 'b' }]),
    );
    assert.equal(short.json['truncated'], true);
    assert.equal((short.json['changes'] as readonly unknown[]).length, 1);
  }));

test('an invalid document changes nothing, and each problem has its place', () =>
  withAdmin({}, async (admin) => {
    await apply(admin, document([{ name: 'kept', url: 'http://kept.test' }]));
    const text =
      '_format_version: "3.0"\nservices:\n- name: fine\n  host: fine.test\n- name: bad\n  port: 70000\n  host: x\n';
    const { status, json } = await admin.call('POST', '/config/apply', text, yaml);
    assert.equal(status, 400);
    assert.equal(json['code'], 14);
    assert.deepEqual(json['problems'], [
      {
        place: 'services[1].port',
        path: ['services', 1, 'port'],
        line: 6,
        column: 3,
        message: 'value should be between 0 and 65535',
      },
    ]);
    assert.deepEqual(await serviceNames(admin), ['kept']);
    const broken = await admin.call('POST', '/config/apply', 'services: [', yaml);
    assert.equal(broken.status, 400);
    assert.match(String(broken.json['message']), /cannot be read: line \d+/);
    assert.equal((await admin.call('POST', '/config/apply?mode=both', document([]))).status, 400);
    assert.equal((await admin.call('POST', '/config/apply?dryrun=1', document([]))).status, 400);
  }));

test('merging deletes nothing; selected tags limit what is replaced', () =>
  withAdmin({}, async (admin) => {
    await apply(
      admin,
      document([
        { name: 'a', host: 'a', tags: ['x'] },
        { name: 'b', host: 'b' },
      ]),
    );
    await apply(admin, document([{ name: 'c', host: 'c' }]), '?mode=merge');
    assert.deepEqual(await serviceNames(admin), ['a', 'b', 'c']);
    await apply(admin, document([{ name: 'd', host: 'd' }]), '?select_tag=x');
    assert.deepEqual(await serviceNames(admin), ['b', 'c', 'd']);
    const deck = { _info: { select_tags: ['x'] } };
    await apply(admin, document([], deck));
    assert.deepEqual(await serviceNames(admin), ['b', 'c']);
  }));

test('each write is a version, with its actor and without secrets, and any of them can be restored', () =>
  withAdmin({ settings: { adminToken: 'admin-secret-0123456789' } }, async (admin) => {
    const headers = { authorization: 'Bearer admin-secret-0123456789' };
    const call = (method: string, path: string, body?: unknown) => admin.call(method, path, body, headers);
    const applied = await call('POST', '/config/apply', document([{ name: 'a', host: 'a' }], { certificates }));
    assert.equal(applied.status, 200, applied.text);
    await call('PATCH', '/services/a', { port: 81 });
    await call('DELETE', '/snis/a.test');
    await call('DELETE', `/certificates/${certificateId}`);
    const list = await call('GET', '/config/versions?size=2');
    const versions = list.json['data'] as readonly {
      version: number;
      action: string;
      actor: string;
      deleted: number;
    }[];
    assert.deepEqual(
      versions.map(({ action, actor, deleted }) => [action, actor, deleted]),
      [
        ['write', 'admin-token', 1],
        ['write', 'admin-token', 1],
      ],
    );
    const next = await call('GET', String(list.json['next']));
    assert.deepEqual(
      (next.json['data'] as typeof versions).map(({ action }) => action),
      ['write', 'apply'],
    );
    const shown = await call('GET', `/config/versions/${versions[0]?.version}`);
    assert.equal(shown.status, 200);
    assert.equal((shown.json['changes'] as readonly unknown[]).length, 1);
    assert.match(shown.text, /BEGIN CERTIFICATE/);
    assert.doesNotMatch(shown.text + list.text, /PRIVATE KEY/);

    const { version } = applied.json;
    const back = await call('POST', `/config/versions/${version}/rollback`);
    assert.equal(back.status, 200, back.text);
    assert.deepEqual([back.json['created'], back.json['updated'], back.json['deleted']], [2, 1, 0]);
    assert.equal((await call('GET', '/services/a')).json['port'], 80);
    assert.equal((await call('GET', `/certificates/${certificateId}`)).json['key'], firstCertificate.key);
    const newest = await call('GET', '/config/versions?size=1');
    const [latest] = newest.json['data'] as readonly { action: string; note: string }[];
    assert.deepEqual([latest?.action, latest?.note], ['rollback', `to version ${version}`]);
    const nothing = await call('POST', `/config/versions/${back.json['version']}/rollback`);
    assert.deepEqual([nothing.status, nothing.json['version']], [200, null]);
    assert.equal((await call('POST', '/config/versions/0/rollback')).json['deleted'], 3);
    for (const id of ['7777', 'x', '-1']) assert.equal((await call('GET', `/config/versions/${id}`)).status, 404);
    assert.equal((await call('POST', '/config/versions/7777/rollback')).status, 404);
    const records = await call('GET', '/audit?size=1000');
    const operations = (records.json['data'] as readonly { path: string }[]).map(({ path }) => path);
    assert.equal(operations.filter((path) => path === '/config/apply').length, 3);
    assert.equal(operations.filter((path) => path.endsWith('/rollback')).length, 6);
    assert.doesNotMatch(records.text, /PRIVATE KEY/);
    assert.equal((await admin.call('POST', '/config/apply', document([]))).status, 401);
  }));

test('a second document is refused while one is received, and large ones are accepted', () =>
  withAdmin({ settings: { adminClientMaxBodySize: 1000 } }, async (admin) => {
    const slow = httpRequest(`${admin.url}/config/apply`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': '100' },
    });
    slow.on('error', () => {});
    slow.write('{"_format');
    let refused = await admin.call('POST', '/config/diff', document([]));
    while (refused.status !== 429) refused = await admin.call('POST', '/config/diff', document([]));
    assert.equal(refused.headers['retry-after'], '1');
    slow.destroy();
    const services = Array.from({ length: 100 }, (_, i) => ({ name: `s${i}`, host: 'h' }));
    let accepted = await admin.call('POST', '/config/diff', document(services));
    while (accepted.status === 429) accepted = await admin.call('POST', '/config/diff', document(services));
    assert.equal(accepted.json['created'], 100);
    assert.equal((await admin.call('POST', '/services', { name: 'x'.repeat(2000), host: 'h' })).status, 413);
  }));

test('writes during an apply are neither lost nor half replaced', () =>
  withAdmin({}, async (admin) => {
    const services = Array.from({ length: 2000 }, (_, i) => ({ name: `s${i}`, host: 'h' }));
    const applying = admin.call('POST', '/config/apply?mode=merge', document(services));
    const writes = Array.from({ length: 20 }, (_, i) => admin.call('POST', '/services', { name: `w${i}`, host: 'h' }));
    const results = await Promise.all([applying, ...writes]);
    assert.deepEqual(
      results.map(({ status }) => status),
      [200, ...writes.map(() => 201)],
    );
    assert.equal(await admin.store.count('services'), 2020);
  }));

test('an export is a document that changes nothing', () =>
  withAdmin({}, async (admin) => {
    const a = { name: 'a', host: 'a', tags: ['x'], routes: [{ name: 'ra', paths: ['/a'] }] };
    await apply(admin, document([a, { name: 'b', host: 'b' }], { certificates }));
    for (const query of ['style=kong&format=yaml', 'style=kong&format=json', 'style=deck&format=yaml', '']) {
      const exported = await admin.call('GET', `/config/export?${query}`);
      assert.equal(exported.status, 200, exported.text);
      const type = query.includes('json') ? 'application/json' : 'application/yaml';
      assert.ok(exported.headers['content-type']?.startsWith(type));
      const diff = await admin.call('POST', '/config/diff', exported.text, { 'content-type': type });
      assert.deepEqual([diff.status, diff.json['changes'], diff.json['unchanged']], [200, [], 5], query);
    }
    const tagged = await admin.call('GET', '/config/export?style=deck&select_tag=x');
    assert.match(tagged.text, /name: "?a"?/);
    assert.doesNotMatch(tagged.text, /name: "?b"?/);
    assert.equal((await admin.call('GET', '/config/export?style=html')).status, 400);
  }));
