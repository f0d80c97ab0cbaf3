// What one write changed is taken back, any two versions are compared, and versions are found by what they are about.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { callAdminAs } from '../../../test/dashboard/call-admin-as.ts';
import { startTestAdmin, type TestAdmin, type TestAnswer } from './admin.fixture.ts';
import { firstCertificate } from './certificate.fixture.ts';

interface Shown {
  readonly operation: string;
  readonly entity: string;
  readonly label?: string;
  readonly before?: Readonly<Record<string, unknown>> | null;
  readonly after?: Readonly<Record<string, unknown>> | null;
}

const versionOf = ({ headers }: TestAnswer): number => Number(headers['x-sluicegate-config-version']);

const changesOf = ({ json }: TestAnswer): readonly string[] =>
  (json['changes'] as readonly Shown[]).map(({ operation, entity, label }) => `${operation} ${entity} ${label}`);

/** The whole config, without what every write sets. */
async function exported(admin: TestAdmin): Promise<string> {
  const { text } = await admin.call('GET', '/config/export?format=json');
  return text.replace(/"updated_at":\s*[\d.]+/g, '"updated_at":0');
}

test('a write says which version it made, and a write of no config says nothing', async () => {
  await using admin = await startTestAdmin();
  const created = await admin.call('POST', '/services', { name: 'a', host: 'a.test' });
  assert.equal(versionOf(created), await admin.store.version());
  const user = await admin.call('POST', '/admin-users', { name: 'ada', role: 'admin' });
  assert.equal(user.status, 201);
  assert.equal(user.headers['x-sluicegate-config-version'], undefined);
});

test('a creation, an edit and a deletion with all that it took are taken back; so is the undo', async () => {
  await using admin = await startTestAdmin();
  await admin.call('POST', '/services', { name: 'a', host: 'a.test' });
  const plugin = await admin.call('POST', '/services/a/plugins', { name: 'rate-limiting', config: { minute: 5 } });
  const { body: upstream } = { body: (await admin.call('POST', '/upstreams', { name: 'pool' })).json };
  await admin.call('POST', '/upstreams/pool/targets', { target: '10.0.0.1:80' });
  const before = await exported(admin);

  for (const write of [
    () => admin.call('POST', '/consumers', { username: 'ada' }),
    () => admin.call('PATCH', '/services/a', { host: 'b.test', tags: ['x'] }),
    () => admin.call('DELETE', '/services/a'),
    () => admin.call('DELETE', `/upstreams/${upstream['id']}`),
    () => admin.call('PUT', `/plugins/${plugin.json['id']}`, { name: 'key-auth' }),
  ]) {
    const answer = await write();
    assert.ok(answer.status < 300, answer.text);
    const version = versionOf(answer);
    const after = await exported(admin);
    assert.notEqual(after, before);
    const preview = await admin.call('POST', `/config/versions/${version}/undo?dry_run=1`);
    assert.deepEqual([preview.status, preview.json['version'], preview.json['conflicts']], [200, null, []]);
    assert.equal(await exported(admin), after, 'a dry run changes nothing');
    const undone = await admin.call('POST', `/config/versions/${version}/undo`);
    assert.equal(undone.status, 200, undone.text);
    assert.equal(undone.json['version'], versionOf(undone));
    assert.equal(await exported(admin), before);
    const again = await admin.call('POST', `/config/versions/${versionOf(undone)}/undo`);
    assert.equal(again.status, 200, again.text);
    assert.equal(await exported(admin), after);
    assert.equal((await admin.call('POST', `/config/versions/${versionOf(again)}/undo`)).status, 200);
  }
  const { json } = await admin.call('GET', '/config/versions?size=1');
  const [latest] = json['data'] as readonly { action: string; note: string }[];
  assert.equal(latest?.action, 'undo');
  assert.match(latest?.note ?? '', /^of version \d+$/);
  const audit = await admin.call('GET', '/audit?size=1');
  assert.match(String((audit.json['data'] as readonly { path: string }[])[0]?.path), /undo$/);
});

test('what somebody else has changed since is not overwritten, and others of their changes stay', async () => {
  await using admin = await startTestAdmin();
  const first = await admin.call('POST', '/services', { name: 'a', host: 'a.test' });
  const edited = await admin.call('PATCH', '/services/a', { host: 'b.test' });
  await admin.call('POST', '/services', { name: 'other', host: 'other.test' });
  await admin.call('PATCH', '/services/a', { port: 81 });
  const refused = await admin.call('POST', `/config/versions/${versionOf(edited)}/undo`);
  assert.equal(refused.status, 409);
  assert.equal(refused.json['message'], 'it cannot be taken back: services a was changed again by anonymous');
  const [conflict] = refused.json['conflicts'] as readonly Record<string, unknown>[];
  assert.deepEqual([conflict?.['entity'], conflict?.['label'], conflict?.['actor']], ['services', 'a', 'anonymous']);
  const preview = await admin.call('POST', `/config/versions/${versionOf(edited)}/undo?dry_run=1`);
  assert.deepEqual(preview.json['conflicts'], refused.json['conflicts']);
  assert.equal((await admin.call('GET', '/services/a')).json['port'], 81);

  await admin.call('PATCH', '/services/a', { port: 80 });
  assert.equal((await admin.call('POST', `/config/versions/${versionOf(edited)}/undo`)).status, 200, 'changed back');
  assert.equal((await admin.call('GET', '/services/a')).json['host'], 'a.test');
  assert.equal((await admin.call('GET', '/services/other')).status, 200);

  for (const [path, body] of [
    ['/services/a/routes', { paths: ['/'], name: 'late' }],
    ['/services/a/plugins', { name: 'rate-limiting', config: { minute: 1 } }],
  ] as const) {
    const added = await admin.call('POST', path, body);
    const kept = await admin.call('POST', `/config/versions/${versionOf(first)}/undo`);
    assert.equal(kept.status, 409, kept.text);
    assert.match(String(kept.json['message']), /in use by routes|rate-limiting.* was added since/);
    assert.equal((await admin.call('POST', `/config/versions/${versionOf(added)}/undo`)).status, 200);
  }
  assert.equal((await admin.call('POST', `/config/versions/${versionOf(first)}/undo`)).status, 200);
  assert.equal((await admin.call('GET', '/services/a')).status, 404);

  const taken = await admin.call('DELETE', '/services/other');
  await admin.call('POST', '/services', { name: 'other', host: 'new.test' });
  assert.equal((await admin.call('POST', `/config/versions/${versionOf(taken)}/undo`)).status, 409, 'the name is used');
  for (const id of ['7777', 'x']) assert.equal((await admin.call('POST', `/config/versions/${id}/undo`)).status, 404);
  assert.equal((await admin.call('POST', `/config/versions/${versionOf(taken)}/undo?dry_run=2`)).status, 400);
});

test('an undo needs the rights of the write that it is', async () => {
  await using admin = await startTestAdmin({ settings: { adminToken: 'admin-secret-0123456789' } });
  const owner = callAdminAs(admin.url, 'admin-secret-0123456789');
  const tokenOf = async (name: string, fields: object): Promise<string> => {
    await owner('POST', '/admin-users', { name, ...fields });
    return String((await owner('POST', `/admin-users/${name}/tokens`, { name: 't' })).body['token']);
  };
  const reader = await tokenOf('reader', { role: 'read' });
  const editor = await tokenOf('editor', { role: 'edit', tag_patterns: ['team-a'] });
  const as = (token: string, method: string, path: string, body?: unknown) =>
    admin.call(method, path, body, { authorization: `Bearer ${token}` });
  const theirs = await as('admin-secret-0123456789', 'POST', '/services', { name: 'theirs', host: 'a.test' });
  const own = await as(editor, 'POST', '/services', { name: 'own', host: 'a.test', tags: ['team-a'] });
  assert.equal(own.status, 201, own.text);
  assert.equal((await as(reader, 'POST', `/config/versions/${versionOf(own)}/undo`)).status, 403);
  assert.equal((await as(editor, 'POST', `/config/versions/${versionOf(theirs)}/undo`)).status, 403);
  assert.equal((await as(editor, 'POST', `/config/versions/${versionOf(own)}/rollback?dry_run=1`)).status, 403);
  assert.equal((await owner('GET', '/services/theirs')).status, 200);
  const undone = await as(editor, 'POST', `/config/versions/${versionOf(own)}/undo`);
  assert.equal(undone.status, 200, undone.text);
  const [latest] = (await as(reader, 'GET', '/config/versions?actor=editor')).json['data'] as readonly {
    version: number;
    actor: string;
  }[];
  assert.deepEqual(latest?.version, versionOf(undone));
  assert.equal((await as(reader, 'GET', `/config/versions/${versionOf(own)}/diff`)).status, 200);
});

test('any two versions are compared without secrets, and a rollback has a preview', async () => {
  await using admin = await startTestAdmin();
  const first = versionOf(await admin.call('POST', '/services', { name: 'a', host: 'a.test' }));
  await admin.call('POST', '/consumers', { username: 'ada' });
  const id = '6ba7b810-9dad-41d1-80b4-00c04fd430c8';
  const key = await admin.call('POST', '/certificates', { id, ...firstCertificate });
  await admin.call('PATCH', '/services/a', { host: 'b.test' });
  await admin.call('PATCH', '/services/a', { retries: 1 });
  const forward = await admin.call('GET', `/config/versions/${versionOf(key)}/diff?against=${first}`);
  assert.deepEqual(changesOf(forward), [`create certificates ${id}`, 'create consumers ada']);
  assert.match(forward.text, /BEGIN CERTIFICATE/);
  assert.doesNotMatch(forward.text, /PRIVATE KEY/);
  const back = await admin.call('GET', `/config/versions/${first}/diff`);
  assert.deepEqual([back.json['against'], back.json['updated'], back.json['deleted']], [null, 1, 2]);
  const [service] = (back.json['changes'] as readonly Shown[]).filter(({ entity }) => entity === 'services');
  assert.deepEqual(
    [service?.before, service?.after],
    [
      { host: 'b.test', retries: 1 },
      { host: 'a.test', retries: 5 },
    ],
  );
  const limited = await admin.call('POST', '/services/a/plugins', { name: 'rate-limiting', config: { minute: 5 } });
  const shown = await admin.call('GET', `/config/versions/${versionOf(limited)}`);
  assert.deepEqual(changesOf(shown), ['create plugins rate-limiting of service a']);
  assert.equal((await admin.call('POST', `/config/versions/${versionOf(limited)}/undo`)).status, 200);
  const preview = await admin.call('POST', `/config/versions/${first}/rollback?dry_run=1`);
  assert.deepEqual(preview.json['changes'], back.json['changes']);
  assert.equal((await admin.call('GET', '/services/a')).json['host'], 'b.test');
  const short = await admin.call('GET', `/config/versions/${first}/diff?changes=1`);
  assert.deepEqual([(short.json['changes'] as readonly unknown[]).length, short.json['truncated']], [1, true]);
  const done = await admin.call('POST', `/config/versions/${first}/rollback`);
  assert.equal(done.json['version'], versionOf(done));
  assert.equal((await admin.call('POST', `/config/versions/${versionOf(done)}/undo`)).status, 200);
  assert.equal((await admin.call('GET', '/services/a')).json['host'], 'b.test');
  for (const path of ['7777/diff', `${first}/diff?against=7777`]) {
    assert.equal((await admin.call('GET', `/config/versions/${path}`)).status, 404, path);
  }
  assert.equal((await admin.call('GET', `/config/versions/${first}/diff?against=x`)).status, 400);
});

test('versions are found by actor, entity and time', async () => {
  await using admin = await startTestAdmin();
  const created = await admin.call('POST', '/services', { name: 'a', host: 'a.test' });
  await admin.call('POST', '/upstreams', { name: 'pool' });
  const found = async (query: string): Promise<readonly number[]> =>
    ((await admin.call('GET', `/config/versions?${query}`)).json['data'] as readonly { version: number }[]).map(
      ({ version }) => version,
    );
  assert.deepEqual(await found('entity=services'), [versionOf(created)]);
  assert.deepEqual(await found(`id=${created.json['id']}&entity=services`), [versionOf(created)]);
  assert.equal((await found('actor=anonymous')).length, 2);
  assert.deepEqual(await found('actor=nobody'), []);
  assert.deepEqual(await found('since=2100-01-01'), []);
  const paged = await admin.call('GET', '/config/versions?actor=anonymous&size=1');
  assert.match(String(paged.json['next']), /actor=anonymous/);
  for (const query of ['entity=nothing', 'since=yesterday', 'actors=x']) {
    assert.equal((await admin.call('GET', `/config/versions?${query}`)).status, 400, query);
  }
});
