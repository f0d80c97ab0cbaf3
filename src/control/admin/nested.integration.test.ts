import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';

let admin: TestAdmin;
const ids: Record<string, string> = {};
const absent = '00000000-0000-4000-8000-00000000ffff';

before(async () => {
  admin = await startTestAdmin();
  for (const name of ['one', 'two']) {
    ids[name] = String((await admin.call('PUT', `/services/${name}`, { host: `${name}.test` })).json['id']);
  }
  ids['route'] = String((await admin.call('POST', '/services/one/routes', { name: 'r', paths: ['/r'] })).json['id']);
});
after(() => admin[Symbol.asyncDispose]());

async function expectNotFound(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await admin.call(method, path, body);
  assert.equal(answer.status, 404, `${method} ${path}`);
  assert.deepEqual(answer.json, { message: 'Not found' });
}

test('everything below a missing parent is a plain 404', async () => {
  for (const parent of ['none', absent]) {
    await expectNotFound('GET', `/services/${parent}/routes`);
    await expectNotFound('POST', `/services/${parent}/routes`, { paths: ['/x'] });
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      await expectNotFound(method, `/services/${parent}/routes/r`, method === 'GET' ? undefined : { paths: ['/x'] });
    }
  }
});

test('a child is reached by id and by name below its parent', async () => {
  for (const path of [`/services/one/routes/r`, `/services/${ids['one']}/routes/${ids['route']}`]) {
    assert.equal((await admin.call('GET', path)).json['id'], ids['route']);
  }
});

test('a child of another parent is not found', async () => {
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    await expectNotFound(method, '/services/two/routes/r', method === 'GET' ? undefined : { paths: ['/x'] });
  }
  assert.equal((await admin.call('GET', '/routes/r')).status, 200);
});

test('a missing child is a plain 404, also for PATCH and DELETE', async () => {
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    await expectNotFound(method, `/services/one/routes/${absent}`, method === 'GET' ? undefined : { paths: ['/x'] });
  }
});

test('the path decides the parent, whatever the body says', async () => {
  const posted = await admin.call('POST', '/services/two/routes', { paths: ['/p'], service: { id: ids['one'] } });
  assert.equal(posted.status, 201);
  assert.deepEqual(posted.json['service'], { id: ids['two'] });
});

test('PUT below a parent creates, replaces, and moves a child here', async () => {
  const created = await admin.call('PUT', '/services/two/routes/made', { paths: ['/made'] });
  assert.equal(created.status, 200);
  assert.deepEqual(created.json['service'], { id: ids['two'] });
  const moved = await admin.call('PUT', '/services/one/routes/made', { paths: ['/moved'] });
  assert.equal(moved.json['id'], created.json['id']);
  assert.deepEqual(moved.json['service'], { id: ids['one'] });
});

test('PATCH and DELETE work below the parent', async () => {
  const changed = await admin.call('PATCH', '/services/one/routes/made', { strip_path: false });
  assert.equal(changed.json['strip_path'], false);
  assert.equal((await admin.call('DELETE', '/services/one/routes/made')).status, 204);
  await expectNotFound('GET', '/routes/made');
});

test('the service of a route can be read and changed below it', async () => {
  assert.equal((await admin.call('GET', '/routes/r/service')).json['id'], ids['one']);
  const changed = await admin.call('PATCH', '/routes/r/service', { retries: 1 });
  assert.equal(changed.json['retries'], 1);
  const replaced = await admin.call('PUT', '/routes/r/service', { name: 'one', host: 'new.test' });
  assert.equal(replaced.status, 200);
  assert.equal(replaced.json['id'], ids['one']);
  assert.equal(replaced.json['retries'], 5);
  const refused = await admin.call('DELETE', '/routes/r/service');
  assert.equal(refused.status, 405);
  assert.deepEqual(refused.json, { message: 'Method not allowed' });
  assert.equal(refused.headers.allow, 'GET, HEAD, OPTIONS, PATCH, PUT');
});

test('PUT gives a route without a service a new one', async () => {
  await admin.call('POST', '/routes', { name: 'bare', paths: ['/bare'] });
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    await expectNotFound(method, '/routes/bare/service', method === 'GET' ? undefined : { retries: 1 });
  }
  const created = await admin.call('PUT', '/routes/bare/service', { host: 'made.test' });
  assert.equal(created.status, 200);
  const route = await admin.call('GET', '/routes/bare');
  assert.deepEqual(route.json['service'], { id: created.json['id'] });
});

test('PUT below a missing route creates nothing', async () => {
  const count = await admin.store.count('services');
  await expectNotFound('PUT', '/routes/none/service', { host: 'x.test' });
  assert.equal(await admin.store.count('services'), count);
});

test('plugins are attached to services, routes and consumers by their paths', async () => {
  await admin.call('PUT', '/consumers/bob', {});
  for (const [parent, field] of [
    ['/services/one', 'service'],
    ['/routes/r', 'route'],
    ['/consumers/bob', 'consumer'],
  ] as const) {
    const created = await admin.call('POST', `${parent}/plugins`, { name: 'rate-limiting', config: { minute: 1 } });
    assert.equal(created.status, 201, created.text);
    const owner = await admin.call('GET', `/plugins/${String(created.json['id'])}/${field}`);
    assert.deepEqual(created.json[field], { id: owner.json['id'] });
    const listed = (await admin.call('GET', `${parent}/plugins`)).json['data'] as { id: string }[];
    assert.deepEqual(
      listed.map(({ id }) => id),
      [created.json['id']],
    );
  }
});

test('links of a nested list keep the name that the client used, and omit size', async () => {
  await admin.call('POST', '/services/one/routes', { paths: ['/second'] });
  const page = await admin.call('GET', '/services/one/routes?size=1&tags=x');
  assert.match(String(page.json['next']), /^\/services\/one\/routes\?offset=[\w-]+$/);
});
