import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EntityAccess, EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import { testEntities } from '../../plugin-testing/test-entities.ts';
import { credentialVersion, credentialView } from './credential-view.ts';
import { SessionRevocations, sessionKey } from './session-revocations.ts';

const soon = () => Date.now() / 1000 + 60;

/** As a gateway answers: 1,000 rows at most. */
function limited(entities: EntityAccess): EntityAccess {
  const { list } = entities;
  return { ...entities, list: async (...question) => (await list(...question)).slice(0, 1000) };
}

for (const slow of [false, true]) {
  test(`a revoked session is revoked for everyone who asks, ${slow ? 'with' : 'without'} a promise`, async () => {
    const entities = testEntities({}, slow);
    const revocations = new SessionRevocations(entities);
    const [ended, alive] = [sessionKey('ended'), sessionKey('alive')];
    assert.equal(await revocations.has(ended), false);
    await revocations.revoke(ended, soon());
    await revocations.revoke(sessionKey('over'), Date.now() / 1000 - 1);
    for (const asked of [revocations, new SessionRevocations(entities)]) {
      assert.deepEqual([await asked.has(ended), await asked.has(alive)], [true, false]);
      assert.equal(await asked.has(sessionKey('over')), false);
    }
  });
}

test('more revocations than a list holds are found one by one', async () => {
  const revocations = new SessionRevocations(limited(testEntities({}, false)));
  const keys: string[] = [];
  for (let number = 0; keys.length < 1010; number += 1) {
    const key = sessionKey(String(number));
    if (key.startsWith('A')) keys.push(key);
  }
  const last = keys.pop() ?? '';
  for (const key of keys) await revocations.revoke(key, soon());
  for (const key of [keys[0], keys[999], keys[1000], keys.at(-1)]) assert.equal(await revocations.has(key ?? ''), true);
  assert.equal(await revocations.has(last), false);
});

test('without the store the cached list applies; without a cached list the check rejects', async () => {
  const entities = testEntities({}, true);
  const away = () => Promise.reject(new EntityAccessError('unavailable', 'away'));
  const [ended, alive] = [sessionKey('ended'), sessionKey('alive')];
  const revocations = new SessionRevocations(entities);
  await revocations.revoke(ended, soon());
  for (const key of [ended, alive]) await revocations.has(key);
  entities.list = away;
  assert.deepEqual([await revocations.has(ended), await revocations.has(alive)], [true, false]);
  await assert.rejects(Promise.resolve(new SessionRevocations(entities).has(ended)), EntityAccessError);
  entities.insert = away;
  await assert.rejects(revocations.revoke(alive, soon()), EntityAccessError);
});

test('the version of a credential changes only with its secret, name or consumer', () => {
  const row = { id: 'a', created_at: 1, key: 'secret', consumer: { id: 'c' }, tags: ['t'], ttl: null };
  const version = credentialVersion(row);
  for (const same of [{ created_at: 2 }, { tags: null }, { expires_at: 5 }, { key_prefix: null }]) {
    assert.equal(credentialVersion({ ...row, ...same }), version, JSON.stringify(same));
  }
  for (const other of [{ key: 'another' }, { consumer: { id: 'd' } }, { id: 'b' }, { key_prefix: 'se' }]) {
    assert.notEqual(credentialVersion({ ...row, ...other }), version, JSON.stringify(other));
  }
  const view = credentialView('keyauth_credentials', row, 'a');
  assert.equal(credentialView('keyauth_credentials', row, 'a'), view);
  assert.doesNotMatch(JSON.stringify(view), /secret/);
});
