import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { type Store, StoreError } from '../../store/store.ts';
import { KnownUsers } from './known-users.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-users-'));
after(() => rmSync(folder, { recursive: true, force: true }));

/** `users`: null while the database is unavailable. */
function fakeStore(state: { users: number | null; reads: number }): Store {
  const list: Store['list'] = async () => {
    state.reads++;
    if (state.users === null) throw new StoreError({ kind: 'unavailable' });
    return Array.from({ length: state.users }, () => ({ id: 'x', created_at: 1 }));
  };
  return { list } as unknown as Store;
}

test('without users the store is read each time, with users once in a while', async () => {
  const state = { users: 0, reads: 0 };
  const known = new KnownUsers({ store: fakeStore(state), path: join(folder, 'a'), warn: assert.fail });
  for (let i = 0; i < 5; i++) assert.equal(await known.exist(), false);
  assert.equal(state.reads, 5);
  state.users = 1;
  for (let i = 0; i < 100; i++) assert.equal(await known.exist(), true);
  assert.equal(state.reads, 6);
});

test('while the store is unavailable the last answer counts, also after a restart', async () => {
  for (const users of [0, 1]) {
    const path = join(folder, `b${users}`);
    const state: { users: number | null; reads: number } = { users, reads: 0 };
    const known = new KnownUsers({ store: fakeStore(state), path, warn: assert.fail });
    assert.equal(await known.exist(), users > 0);
    state.users = null;
    assert.equal(await known.exist(), users > 0);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    const restarted = new KnownUsers({ store: fakeStore(state), path, warn: assert.fail });
    assert.equal(await restarted.exist(), users > 0);
  }
});

test('without an answer or with an unreadable file nobody gets in', async () => {
  const path = join(folder, 'c');
  const state = { users: null, reads: 0 };
  for (const content of [null, '', '{', 'false', '{"users":"no"}', '[]']) {
    if (content !== null) writeFileSync(path, content);
    await assert.rejects(new KnownUsers({ store: fakeStore(state), path, warn: assert.fail }).exist(), StoreError);
  }
});
