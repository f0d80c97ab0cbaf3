import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FeedPosition } from '../store/store.ts';
import { ConfigState } from './config-state.ts';

const at = (version: number, store = 's'): FeedPosition => ({ store, version, stamp: '' });

function rig() {
  const state = { head: at(1) as FeedPosition | null, sent: null as FeedPosition | null, applied: true, now: 1000 };
  const config = new ConfigState({
    head: async () => {
      if (state.head === null) throw new Error('unavailable');
      return state.head;
    },
    sent: () => state.sent,
    applied: () => state.applied,
    failures: () => 0,
    now: () => state.now,
  });
  return { state, config };
}

describe('the age of the config', () => {
  it('is unknown until the node has everything', async () => {
    const { state, config } = rig();
    await config.check();
    assert.equal(config.age(), null);
    assert.equal(config.report(), null);
    state.sent = at(1);
    await config.check();
    assert.equal(config.age(), 0);
    assert.deepEqual(config.report(), { store: 's', version: 1, currentAt: 1000, failures: 0 });
  });

  it('is zero for the only writer, however late the clock is read', () => {
    let now = 1000;
    const config = new ConfigState({
      head: null,
      sent: () => at(1),
      applied: () => true,
      failures: () => 0,
      now: () => now++,
    });
    assert.equal(config.age(), 0);
  });

  it('grows while changes are missing, or the store is unavailable', async () => {
    const { state, config } = rig();
    state.sent = at(1);
    await config.check();
    state.head = at(2);
    state.now = 3000;
    await config.check();
    assert.equal(config.age(), 2000);
    state.head = null;
    state.now = 4000;
    await config.check();
    assert.equal(config.age(), 3000);
    state.head = state.sent = at(2);
    await config.check();
    assert.equal(config.age(), 0);
  });

  it('is not new because of another store, nor of a change that a worker does not have', async () => {
    const { state, config } = rig();
    state.sent = at(1);
    await config.check();
    state.now = 2000;
    state.head = at(1, 'restored');
    await config.check();
    assert.equal(config.age(), 1000);
    state.head = state.sent = at(2);
    state.applied = false;
    await config.check();
    assert.equal(config.age(), 1000);
    assert.equal(config.report()?.version, 1);
  });

  it('is 0 where nothing else writes the store', () => {
    const now = (): number => 1000;
    const config = new ConfigState({ head: null, sent: () => at(4), applied: () => true, failures: () => 0, now });
    assert.equal(config.age(), 0);
    assert.equal(config.report()?.version, 4);
  });
});
