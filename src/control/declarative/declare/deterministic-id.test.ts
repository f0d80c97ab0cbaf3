import assert from 'node:assert/strict';
import { test } from 'node:test';
import { deterministicId, idName, type Named } from './deterministic-id.ts';

const named = (entity: string, input: Named['input'], parent: Named['parent'] = null, key: string | null = 'name') =>
  idName({ entity, input, parent, key });

test('the ids of Kong', () => {
  assert.equal(deterministicId('services', 'my-service'), '0855b320-0dd2-547d-891d-601e9b38647f');
  assert.equal(deterministicId('routes', 'my-route'), '481a9539-f49c-51b6-b2e2-fe99ee68866c');
  assert.equal(deterministicId('consumers', 'my-user'), '4b1b701d-de2b-5588-9aa2-3b97061d9f52');
  assert.equal(deterministicId('upstreams', 'my-upstream'), '00402a2c-1725-5592-97af-b204bc733b7a');
  assert.equal(deterministicId('plugins', 'plugins:*:key-auth:::'), '6b4f38d1-e026-540b-a5ea-8634739dd2a7');
});

test('the names that ids are derived from', () => {
  assert.equal(named('services', { name: 'my-service' }), 'my-service');
  assert.equal(named('plugins', { name: 'key-auth' }), 'plugins:*:key-auth:::');
  assert.equal(named('plugins', { name: 'cors', service: 's', consumer: null }), 'plugins:*:cors::s:');
  assert.equal(named('plugins', { name: 'cors' }, { field: 'route', id: 'r-id' }), 'plugins:*:cors:r-id::');
  assert.equal(named('targets', { target: 'a:80', upstream: 'u' }, null, null), 'targets:*:u:a:80');
  assert.equal(named('acls', { group: 'g' }, { field: 'consumer', id: 'c' }, null), 'acls:*:c:g');
  assert.equal(named('basicauth_credentials', { username: 'ada' }, null, 'username'), 'basicauth_credentials:*:ada');
});

test('a reference that is an object contributes no part', () => {
  assert.equal(named('plugins', { name: 'cors', service: { id: 'x' } }), 'plugins:*:cors::');
});

test('no name: the id is random', () => {
  assert.equal(named('routes', { paths: ['/'] }), null);
  assert.equal(named('keyauth_credentials', { key: 'k', consumer: 'c' }, null, 'key'), null);
  assert.equal(named('plugins', {}), null, 'a plugin without a name');
  assert.equal(named('acls', { group: 'g' }, null, null), null, 'an acl without a consumer');
});
