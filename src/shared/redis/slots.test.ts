import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { keySlot, slotCount } from './key-slot.ts';
import { redirectionOf, slotMapOf } from './slot-map.ts';

const answered = { host: '10.0.0.9', port: 7000 };

describe('the slot of a key', () => {
  it('is that of the Redis cluster specification', () => {
    // The check value of CRC-16/XMODEM is 0x31c3.
    assert.equal(keySlot('123456789'), 0x31c3 % slotCount);
    assert.equal(keySlot(''), 0);
    assert.equal(keySlot('foo'), 12_182);
    assert.equal(keySlot('\u00e9'), keySlot('{\u00e9}x'));
  });

  it('is that of the hash tag, if there is one that is not empty', () => {
    for (const key of ['{user1000}.following', 'a{user1000}b{c}', '{user1000}']) assert.equal(keySlot(key), 3443);
    assert.equal(keySlot('foo{{bar}}zap'), keySlot('{bar'));
    assert.notEqual(keySlot('foo{}{bar}'), keySlot('bar'));
    assert.notEqual(keySlot('{open'), keySlot('open'));
  });
});

describe('the answer to CLUSTER SLOTS', () => {
  it('gives the master of each slot', () => {
    const replica = ['10.0.0.3', 7003, 'c'];
    const slots = slotMapOf(
      [
        [0, 99, ['10.0.0.1', 7001, 'a', []], replica],
        [100, slotCount - 2, ['', 7002, 'b']],
      ],
      answered,
    );
    assert.deepEqual(
      [slots[0], slots[99], slots[100], slots[slotCount - 1], slots.length],
      ['10.0.0.1:7001', '10.0.0.1:7001', '10.0.0.9:7002', undefined, slotCount],
    );
  });

  it('is refused without slots, and when it is something else', () => {
    for (const answer of [[], null, 'OK', [[0, 5]]]) assert.throws(() => slotMapOf(answer, answered), /no slots/);
  });
});

it('a redirection names a node', () => {
  assert.deepEqual(redirectionOf('MOVED 3999 127.0.0.1:6381', answered), {
    kind: 'MOVED',
    to: { host: '127.0.0.1', port: 6381 },
  });
  assert.deepEqual(redirectionOf('ASK 3999 ::1:6381', answered)?.to, { host: '::1', port: 6381 });
  assert.deepEqual(redirectionOf('MOVED 3999 :6381', answered)?.to, { host: '10.0.0.9', port: 6381 });
  for (const other of ['MOVED', 'ERR MOVED 1 a:1', 'MOVED x a:1', 'MOVED 1 a:b']) {
    assert.equal(redirectionOf(other, answered), null);
  }
});
