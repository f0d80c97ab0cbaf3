import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';

let admin: TestAdmin;
const id = '00000000-0000-4000-8000-000000000001';

before(async () => {
  admin = await startTestAdmin();
  await admin.call('PUT', '/upstreams/up.test', {});
  await admin.call('PUT', '/upstreams/other.test', {});
});
after(() => admin[Symbol.asyncDispose]());

test('PUT of a target that does not exist is a 404, so that clients use POST', async () => {
  const put = await admin.call('PUT', `/upstreams/up.test/targets/${id}`, { target: '10.0.0.1:80' });
  assert.equal(put.status, 404);
  const post = await admin.call('POST', '/upstreams/up.test/targets', { id, target: '10.0.0.1:80' });
  assert.equal(post.status, 201);
  assert.equal(post.json['id'], id);
  assert.equal((await admin.call('PUT', `/upstreams/up.test/targets/${id}`, { weight: 7 })).json['weight'], 7);
});

test('timestamps have a fraction', async () => {
  const row = await admin.store.get('targets', id);
  const { json } = await admin.call('GET', `/upstreams/up.test/targets/${id}`);
  assert.equal(json['created_at'], Number(row?.created_at) / 1000);
});

test('a target has the default port, and is found with and without it', async () => {
  const { json } = await admin.call('POST', '/upstreams/up.test/targets', 'target=10.0.0.2&weight=0');
  assert.equal(json['target'], '10.0.0.2:8000');
  for (const name of ['10.0.0.2', '10.0.0.2:8000']) {
    assert.equal((await admin.call('GET', `/upstreams/up.test/targets/${name}`)).json['id'], json['id'], name);
  }
});

test('the same target twice is a conflict, in another upstream it is not', async () => {
  const twice = await admin.call('POST', '/upstreams/up.test/targets', { target: '10.0.0.2:8000' });
  assert.equal(twice.status, 409);
  assert.equal(twice.json['code'], 5);
  assert.equal((await admin.call('POST', '/upstreams/other.test/targets', { target: '10.0.0.2' })).status, 201);
});

test('a faulty target is refused', async () => {
  const answer = await admin.call('POST', '/upstreams/up.test/targets', { target: 'a b' });
  assert.equal(answer.status, 400);
  assert.deepEqual(answer.json['fields'], { target: 'Invalid target; not a valid hostname or ip address' });
});

test('the list is newest first, with weight 0; the other one oldest first', async () => {
  const names = async (path: string): Promise<unknown> => {
    const { json } = await admin.call('GET', path);
    return (json['data'] as { target: string }[]).map(({ target }) => target);
  };
  assert.deepEqual(await names('/upstreams/up.test/targets'), ['10.0.0.2:8000', '10.0.0.1:80']);
  assert.deepEqual(await names('/upstreams/up.test/targets/all'), ['10.0.0.1:80', '10.0.0.2:8000']);
});

test('there are no targets without their upstream', async () => {
  for (const path of ['/targets', `/targets/${id}`, `/targets/${id}/upstream`]) {
    assert.equal((await admin.call('GET', path)).status, 404);
  }
  for (const method of ['GET', 'PATCH', 'DELETE']) {
    assert.equal((await admin.call(method, `/upstreams/other.test/targets/${id}`)).status, 404, method);
  }
  for (const method of ['PUT', 'PATCH', 'DELETE']) {
    assert.equal((await admin.call(method, '/upstreams/up.test/targets')).status, 405, method);
  }
});

test('PATCH changes, DELETE deletes once', async () => {
  assert.equal((await admin.call('PATCH', '/upstreams/up.test/targets/10.0.0.1:80', 'weight=5')).json['weight'], 5);
  assert.equal((await admin.call('DELETE', '/upstreams/up.test/targets/10.0.0.1:80')).status, 204);
  assert.equal((await admin.call('DELETE', '/upstreams/up.test/targets/10.0.0.1:80')).status, 404);
});

test('without health checks the health is unknown, and cannot be set', async () => {
  const { json } = await admin.call('GET', '/upstreams/up.test/health');
  assert.equal(json['node_id'], admin.deps.node.nodeId);
  const [row] = json['data'] as Record<string, unknown>[];
  assert.equal(row?.['health'], 'HEALTHCHECKS_OFF');
  assert.deepEqual(row?.['data'], {
    host: '10.0.0.2',
    port: 8000,
    dns: 'A',
    nodeWeight: 0,
    weight: { total: 0, available: 0, unavailable: 0 },
    addresses: [{ ip: '10.0.0.2', port: 8000, weight: 0, health: 'HEALTHCHECKS_OFF' }],
  });
  const balancer = await admin.call('GET', '/upstreams/up.test/health?balancer_health=1');
  assert.equal((balancer.json['data'] as Record<string, unknown>)['health'], 'HEALTHCHECKS_OFF');
  for (const path of ['10.0.0.2:8000/unhealthy', '10.0.0.2:8000/10.0.0.2:8000/healthy']) {
    const set = await admin.call('PUT', `/upstreams/up.test/targets/${path}`);
    assert.equal(set.status, 400);
    assert.deepEqual(set.json, { message: 'no healthchecker found for up.test' });
  }
  assert.equal((await admin.call('PUT', '/upstreams/up.test/targets/10.9.9.9/healthy')).status, 404);
  assert.equal((await admin.call('POST', '/upstreams/up.test/targets/10.0.0.2/healthy')).status, 405);
});

test('deleting the upstream deletes its targets', async () => {
  await admin.call('DELETE', '/upstreams/up.test');
  assert.equal(await admin.store.count('targets'), 1);
});
