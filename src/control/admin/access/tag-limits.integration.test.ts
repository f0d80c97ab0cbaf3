import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, test } from 'node:test';
import type { TestAnswer } from '../admin.fixture.ts';
import { firstCertificate } from '../certificate.fixture.ts';
import { type GuardedGateway, startGuardedGateway } from './users.fixture.ts';

type Fields = Readonly<Record<string, unknown>>;

const a = ['team-a'];
const b = ['team-b'];

let users: GuardedGateway;
/** Ids of what belongs to the team b, and of a consumer and a service without tags. */
const others: Record<string, string> = {};
const own: Record<string, string> = {};

before(async () => {
  users = await startGuardedGateway();
  const make = async (
    as: GuardedGateway['admin'],
    into: Record<string, string>,
    name: string,
    path: string,
    body: Fields,
  ) => {
    const answer = await as('POST', path, body);
    assert.equal(answer.status, 201, `${path} ${answer.text}`);
    into[name] = String(answer.json['id']);
  };
  const { admin, alice } = users;
  await make(admin, others, 'service', '/services', { name: 'b', host: 'b.test', tags: b });
  await make(admin, others, 'untagged', '/services', { name: 'untagged', host: 'untagged.test' });
  await make(admin, others, 'route', '/routes', { name: 'b', paths: ['/b'], service: { name: 'b' }, tags: b });
  await make(admin, others, 'plugin', '/routes/b/plugins', { name: 'key-auth', tags: b });
  await make(admin, others, 'consumer', '/consumers', { username: 'b', tags: b });
  await make(admin, others, 'key', '/consumers/b/key-auth', { key: 'key-of-b', tags: b });
  await make(admin, others, 'upstream', '/upstreams', { name: 'b.upstream', tags: b });
  await make(admin, others, 'target', '/upstreams/b.upstream/targets', { target: '10.0.0.1:80', tags: b });
  const { cert, key } = firstCertificate;
  await make(admin, others, 'certificate', '/certificates', { cert, key, tags: b });
  await make(admin, others, 'sni', '/snis', { name: 'b.test', certificate: { id: others['certificate'] }, tags: b });
  await make(alice, own, 'service', '/services', { name: 'a', host: 'a.test', tags: a });
  await make(alice, own, 'route', '/services/a/routes', { name: 'a', paths: ['/a'], tags: ['team-a-x'] });
  await make(alice, own, 'plugin', '/routes/a/plugins', { name: 'key-auth', tags: a });
  await make(alice, own, 'consumer', '/consumers', { username: 'a', tags: a });
  await make(alice, own, 'key', '/consumers/a/key-auth', { key: 'key-of-a', tags: a });
  await make(alice, own, 'upstream', '/upstreams', { name: 'a.upstream', tags: a });
  await make(alice, own, 'target', '/upstreams/a.upstream/targets', { target: '10.0.0.2:80', tags: a });
});
after(async () => users[Symbol.asyncDispose]());

/** Sends it as alice, and expects 403 and no change at all. */
async function refused(method: string, path: string, body?: Fields, reason?: RegExp): Promise<TestAnswer> {
  const before = await versions();
  const answer = await users.alice(method, path, body);
  assert.equal(answer.status, 403, `${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`);
  assert.match(answer.text, /^\{"message":"alice \(edit\) may not do this: /);
  if (reason !== undefined) assert.match(answer.text, reason);
  assert.deepEqual(await versions(), before, `${method} ${path} has changed something`);
  return answer;
}

async function allowed(method: string, path: string, body?: Fields): Promise<TestAnswer> {
  const answer = await users.alice(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path} ${JSON.stringify(body)}: ${answer.status} ${answer.text}`);
  return answer;
}

/** The newest audit record: every change leaves one. */
async function versions(): Promise<unknown> {
  return (await users.admin('GET', '/audit?size=1')).json['data'];
}

test('an editor creates, changes and deletes what carries its tags', async () => {
  await allowed('PATCH', '/services/a', { retries: 2 });
  await allowed('PUT', '/services/new-a', { host: 'new.test', tags: ['team-a-x'] });
  await allowed('PATCH', '/services/new-a', { tags: ['team-a'] });
  await allowed('DELETE', '/services/new-a');
  await allowed('DELETE', '/services/nothing');
});

test('what carries no tag of its own is closed, in every way to write it', async () => {
  for (const name of ['b', 'untagged']) {
    await refused('PATCH', `/services/${name}`, { retries: 2 });
    await refused('PUT', `/services/${name}`, { host: 'x.test' });
    await refused('PUT', `/services/${name}`, { host: 'x.test', tags: a });
    await refused('DELETE', `/services/${name}`);
  }
  await refused('DELETE', `/services/${others['service']}`);
  await refused('PUT', `/services/${others['service']}`, { name: 'b', host: 'x.test', tags: a });
  await refused('PATCH', `/routes/b/service`, { retries: 2 });
  await refused('PUT', `/routes/b/service`, { host: 'x.test', tags: a });
  await refused('PATCH', `/services/b/routes/b`, { paths: ['/c'] });
  await refused('PATCH', `/routes/b/plugins/${others['plugin']}`, { enabled: false });
  await refused('DELETE', `/plugins/${others['plugin']}`);
  await refused('PATCH', `/consumers/b/key-auth/${others['key']}`, { key: 'known' });
  await refused('DELETE', `/key-auths/${others['key']}`);
  await refused('PATCH', `/key-auths/key-of-b`, { tags: a });
  await refused('PATCH', `/key-auths/${others['key']}/consumer`, { custom_id: 'x' });
  await refused('PATCH', `/upstreams/b.upstream/targets/10.0.0.1:80`, { weight: 0 });
  await refused('PUT', `/upstreams/b.upstream/targets/${others['target']}/unhealthy`);
  await refused('PATCH', `/certificates/b.test`, { tags: a });
  await refused('PATCH', `/snis/b.test`, { tags: a });
});

test('a new entity needs a tag of its own', async () => {
  await refused('POST', '/services', { name: 'n', host: 'n.test' });
  await refused('POST', '/services', { name: 'n', host: 'n.test', tags: [] });
  await refused('POST', '/services', { name: 'n', host: 'n.test', tags: ['team-ab'] });
  await refused('POST', '/services', { name: 'n', host: 'n.test', tags: ['Team-A'] });
  await refused('PUT', '/services/n', { host: 'n.test', tags: b });
  await refused('PUT', `/services/${randomUUID()}`, { host: 'n.test' });
});

test('tags can neither be given away nor taken', async () => {
  await refused('PATCH', '/services/a', { tags: b });
  await refused('PATCH', '/services/a', { tags: null });
  await refused('PATCH', '/services/a', { tags: [] });
  await refused('PUT', '/services/a', { host: 'a.test' });
  await refused('PATCH', '/services/b', { tags: a });
  await refused('PATCH', '/services/b', { tags: [...b, ...a] });
  // A tag is a right, too: of other editors, of consumers, and of what is synchronised by tags.
  await refused('PATCH', '/services/a', { tags: [...a, ...b] }, /the tag 'team-b'/);
  await refused('PATCH', '/consumers/a', { tags: [...a, 'gold'] });
  await refused('POST', '/consumers', { username: 'n', tags: [...a, 'gold'] });
  await users.admin('PATCH', '/services/a', { tags: [...a, ...b] });
  await refused('PATCH', '/services/a', { tags: a }, /the tag 'team-b'/);
  await allowed('PATCH', '/services/a', { tags: ['team-a-y', ...b], retries: 3 });
  await users.admin('PATCH', '/services/a', { tags: a });
});

test('children do not inherit the tags of their parent', async () => {
  await refused('POST', '/services/a/routes', { paths: ['/n'] }, /would have no tag/);
  await refused('POST', '/routes/a/plugins', { name: 'cors' });
  await refused('POST', '/consumers/a/key-auth', { key: 'n' });
  await refused('POST', '/upstreams/a.upstream/targets', { target: '10.0.0.3:80' });
  const { cert, key } = firstCertificate;
  await refused('POST', '/certificates', { cert, key, tags: a, snis: ['n.test'] }, /snis/);
});

test('a reference leads to nothing of others', async () => {
  const service = { id: others['service'] };
  await refused('POST', '/services/b/routes', { paths: ['/n'], tags: a }, /refers to services 'b'/);
  await refused('POST', '/routes', { paths: ['/n'], service, tags: a });
  await refused('POST', '/routes', { paths: ['/n'], service: { name: 'untagged' }, tags: a });
  await refused('POST', '/services/b/plugins', { name: 'request-termination', tags: a });
  await refused('POST', '/routes/b/plugins', { name: 'cors', tags: a });
  await refused('POST', '/plugins', { name: 'cors', route: { id: others['route'] }, tags: a });
  await refused('POST', '/plugins', {
    name: 'rate-limiting',
    config: { minute: 1 },
    route: { id: own['route'] },
    consumer: { id: others['consumer'] },
    tags: a,
  });
  await refused('POST', '/consumers/b/key-auth', { key: 'n', tags: a });
  await refused('POST', '/key-auths', { key: 'n', consumer: { username: 'b' }, tags: a });
  await refused('POST', '/upstreams/b.upstream/targets', { target: '10.6.6.6:80', tags: a });
  await refused('POST', '/snis', { name: 'n.test', certificate: { id: others['certificate'] }, tags: a });
  await refused('PATCH', '/services/a', { protocol: 'https', client_certificate: { id: others['certificate'] } });
  await refused('POST', '/upstreams', { name: 'n', client_certificate: { id: others['certificate'] }, tags: a });
});

test('an entity moves neither to others nor from them', async () => {
  await refused('PATCH', '/routes/a', { service: { id: others['service'] } });
  const moved = await allowed('POST', '/routes/a/plugins', { name: 'cors', tags: a });
  await refused('PATCH', `/plugins/${String(moved.json['id'])}`, { route: { id: others['route'] } });
  await refused('PATCH', `/key-auths/${own['key']}`, { consumer: { id: others['consumer'] } });
  await refused('PUT', `/services/a/routes/b`, { paths: ['/b'], tags: a });
  await refused('PUT', `/services/a/routes/${others['route']}`, { paths: ['/b'], tags: a });
  await refused('PUT', `/consumers/a/key-auth/${others['key']}`, { key: 'key-of-b', tags: a });
  await refused('PUT', `/routes/a/plugins/${others['plugin']}`, { name: 'request-termination', tags: a });
  await refused('PUT', `/services/b/routes/a`, { paths: ['/a'], tags: a });
  await refused('PUT', `/services/b/routes/${own['route']}`, { paths: ['/a'], tags: a });
});

test('a deletion that would delete something of others is refused', async () => {
  const { admin, alice } = users;
  await admin('POST', '/services/a/plugins', { name: 'cors', tags: b });
  await refused('DELETE', '/services/a', undefined, /it would delete plugins 'cors'/);
  await admin('POST', '/consumers/a/basic-auth', { username: 'x', password: 'y' });
  await refused('DELETE', '/consumers/a', undefined, /basicauth_credentials/);
  await admin('POST', '/upstreams/a.upstream/targets', { target: '10.0.0.9:80' });
  await refused('DELETE', '/upstreams/a.upstream', undefined, /targets/);
  await alice('POST', '/consumers', { username: 'gone', tags: a });
  await alice('POST', '/consumers/gone/key-auth', { tags: a });
  assert.equal((await alice('DELETE', '/consumers/gone')).status, 204);
});

test('a plugin that reaches further than its route or service is for admins', async () => {
  await refused('POST', '/plugins', { name: 'cors', tags: a }, /without one it runs on those of others/);
  await refused('POST', '/consumers/a/plugins', { name: 'rate-limiting', config: { minute: 1_000_000 }, tags: a });
  await refused('PATCH', `/plugins/${own['plugin']}`, { route: null });
  const global = await users.admin('POST', '/plugins', { name: 'correlation-id', tags: a });
  await refused('DELETE', `/plugins/${String(global.json['id'])}`);
  await refused('PATCH', `/plugins/${String(global.json['id'])}`, { route: { id: own['route'] } });
});

test('names in fields are references, too', async () => {
  // The upstream of others, with its client certificate and targets.
  await refused('PATCH', '/services/a', { host: 'b.upstream' });
  await refused('POST', '/services', { name: 'n', url: 'http://b.upstream/', tags: a });
  const split = (backend: Fields) => ({
    name: 'traffic-split',
    config: { backends: [{ name: 'x', ...backend }] },
    tags: a,
  });
  await refused('POST', '/routes/a/plugins', split({ service: 'b' }));
  await refused('POST', '/routes/a/plugins', split({ service: others['service'] }));
  await refused('POST', '/routes/a/plugins', split({ upstream: 'b.upstream' }));
  await refused('PATCH', `/plugins/${own['plugin']}`, { config: { anonymous: 'b' } });
  await refused('PATCH', `/plugins/${own['plugin']}`, { config: { anonymous: others['consumer'] } });
  await allowed('PATCH', `/plugins/${own['plugin']}`, { config: { anonymous: 'a' } });
  await allowed('PATCH', '/services/a', { host: 'a.upstream' });
  await allowed('PATCH', '/services/a', { host: 'a.test' });
});

test('a new name takes over no traffic of others', async () => {
  // The service of others would send its requests to the targets of the new upstream.
  await refused('POST', '/upstreams', { name: 'b.test', tags: a }, /services 'b' refers to that name/);
  await refused('PUT', '/upstreams/untagged.test', { tags: a });
  await refused('PATCH', '/upstreams/a.upstream', { name: 'b.test' });
  const { admin } = users;
  const plugin = await admin('POST', '/services/b/plugins', {
    name: 'traffic-split',
    config: { backends: [{ name: 'next', service: 'b-next' }] },
    tags: b,
  });
  assert.equal(plugin.status, 201, plugin.text);
  await refused('POST', '/services', { name: 'b-next', host: 'evil.test', tags: a }, /traffic-split/);
  await refused('PATCH', '/services/a', { name: 'b-next' });
  await admin('PATCH', `/plugins/${others['plugin']}`, { config: { anonymous: 'guest' } });
  await refused('POST', '/consumers', { username: 'guest', tags: a });
  const list = await admin('POST', '/services/b/plugins', {
    name: 'authorization',
    config: { rules: [{ name: 'partners', consumers: ['partner'], custom_ids: ['partner-7'] }] },
    tags: b,
  });
  assert.equal(list.status, 201, list.text);
  await refused('POST', '/consumers', { username: 'partner', tags: a }, /authorization/);
  await refused('PATCH', '/consumers/a', { custom_id: 'partner-7' });
});

test('a consumer joins only groups that its editor owns', async () => {
  await refused(
    'POST',
    '/consumers/a/acls',
    { group: 'partners-of-b', tags: a },
    /the group 'partners-of-b' matches none/,
  );
  const made = await allowed('POST', '/consumers/a/acls', { group: 'team-a-gold', tags: a });
  await refused('PATCH', `/acls/${String(made.json['id'])}`, { group: 'partners-of-b' });
});

test('an entity without tags is for admins', async () => {
  await refused('POST', '/sessions', { session_id: 'x', expires: 9_999_999_999, data: 'y' });
});

test('secrets are shown to those who may write the entity', async () => {
  const { alice, reader, admin } = users;
  const keyOf = async (as: GuardedGateway['admin'], id: string | undefined) =>
    (await as('GET', `/key-auths/${id}`)).json['key'];
  assert.equal(await keyOf(admin, others['key']), 'key-of-b');
  assert.equal(await keyOf(alice, own['key']), 'key-of-a');
  assert.equal(await keyOf(alice, others['key']), 'REDACTED');
  assert.equal(await keyOf(reader, own['key']), 'REDACTED');
  const lists = [
    '/key-auths',
    '/consumers/a/key-auth',
    '/consumers/b/key-auth',
    '/certificates',
    '/plugins',
    '/basic-auths',
  ];
  await admin('POST', '/routes/b/plugins', {
    name: 'http-log',
    config: {
      http_endpoint: 'https://log.test/in?token=s3cret-in-url',
      headers: { authorization: 's3cret-in-header' },
    },
  });
  for (const path of [
    ...lists,
    `/certificates/${others['certificate']}`,
    '/routes/b/plugins',
    '/audit?size=1000',
    '/openapi.json',
  ]) {
    for (const as of [reader, alice]) {
      const { text } = await as('GET', path);
      assert.doesNotMatch(text, /key-of-b|s3cret|PRIVATE KEY/, path);
      assert.doesNotMatch(text, /"password":"(?!REDACTED)/, path);
    }
    assert.doesNotMatch((await reader('GET', path)).text, /key-of-a/, path);
  }
  assert.match((await reader('GET', `/certificates/${others['certificate']}`)).text, /BEGIN CERTIFICATE/);
  assert.match((await admin('GET', '/plugins')).text, /s3cret-in-header/);
  assert.match((await admin('GET', `/certificates/${others['certificate']}`)).text, /PRIVATE KEY/);
});

test('answers of writes that share a transaction show each caller what it may see', async () => {
  const { admin, alice } = users;
  const writes = Array.from({ length: 60 }, (_, index) =>
    index % 2 === 0
      ? admin('POST', '/consumers/b/key-auth', { key: `shared-b-${index}` })
      : alice('POST', '/consumers/a/key-auth', { key: `shared-a-${index}`, tags: a }),
  );
  for (const [index, answer] of (await Promise.all(writes)).entries()) {
    assert.equal(answer.status, 201, answer.text);
    assert.equal(answer.json['key'], `shared-${index % 2 === 0 ? 'b' : 'a'}-${index}`);
  }
});

test('a write that fails for its caller does not affect those that share its transaction', async () => {
  const { alice } = users;
  const writes = Array.from({ length: 20 }, (_, index) =>
    alice('POST', '/services', { name: `shared-${index}`, host: 's.test', tags: index % 2 === 0 ? a : b }),
  );
  const statuses = (await Promise.all(writes)).map(({ status }) => status);
  assert.deepEqual(
    statuses,
    statuses.map((_, index) => (index % 2 === 0 ? 201 : 403)),
  );
});
