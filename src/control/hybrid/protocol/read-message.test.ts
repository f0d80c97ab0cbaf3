import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { describe, test } from 'node:test';
import { StoreError } from '../../store/store.ts';
import { MalformedMessage } from './check-values.ts';
import { commonVersion } from './common-version.ts';
import { messageParts, PartJoiner } from './message-parts.ts';
import type { ToControlPlane, ToDataPlane } from './messages.ts';
import { readFromControlPlane, readFromDataPlane } from './read-message.ts';
import { fromWireError, toWireError } from './wire-errors.ts';

const node = { id: randomUUID(), hostname: 'h', version: '1.0.0' };
const position = { store: 's', version: 7, stamp: 't' };
const row = { id: 'r', created_at: 1, name: 'n', nested: { list: [1, null] } };

const toControlPlane: readonly ToControlPlane[] = [
  { t: 'hello', protocol: { min: 1, max: 2 }, features: ['a'], node, labels: { zone: 'x' }, position },
  { t: 'hello', protocol: { min: 1, max: 1 }, features: [], node, labels: {}, position: null },
  { t: 'call', id: 3, method: 'find', args: { entity: 'e' } },
  { t: 'synced', version: -1 },
  { t: 'resend' },
];

const toDataPlane: readonly ToDataPlane[] = [
  { t: 'welcome', protocol: 1, features: [], node, now: 5 },
  { t: 'refused', reason: 'no', retryAfter: null },
  { t: 'leave', within: 1000 },
  {
    t: 'changes',
    changes: [
      { version: 1, entity: 'e', id: 'r', operation: 'upsert', row },
      { version: 2, entity: 'e', id: 'x', operation: 'delete', row: null },
    ],
    position,
  },
  { t: 'changes', changes: [], position: null },
  { t: 'begin' },
  { t: 'rows', entity: 'e', rows: [row] },
  { t: 'config', position, rows: 1 },
  { t: 'result', id: 0, value: [row] },
  { t: 'failure', id: 1, error: { kind: 'usage', message: 'm' } },
  {
    t: 'failure',
    id: 1,
    error: { kind: 'store', detail: { kind: 'unique', entity: 'e', fields: { name: 'n' } }, message: 'm' },
  },
  { t: 'part', text: '{"t', last: false },
];

const directions = [
  { name: 'to the control plane', messages: toControlPlane, read: readFromDataPlane },
  { name: 'to the data plane', messages: toDataPlane, read: readFromControlPlane },
] as const;

for (const { name, messages, read } of directions) {
  describe(`messages ${name}`, () => {
    test('are read as they were written, without members that are not known', () => {
      for (const message of messages) {
        assert.deepEqual(read(JSON.stringify({ ...message, later: { x: 1 } })), message);
      }
    });

    test('of an unknown type are ignored', () => {
      assert.equal(read('{"t":"later","x":[1]}'), null);
      assert.equal(read('{"t":"constructor"}'), null);
      assert.equal(read('{"t":"__proto__"}'), null);
    });

    test('without a member, or with one of another type, are malformed', () => {
      for (const message of messages) {
        const open = new Set(['args', 'value']);
        for (const member of Object.keys(message).filter((key) => key !== 't' && !open.has(key))) {
          for (const wrong of [undefined, {}, [{}], true, 1.5, { id: 5 }, 'x'.repeat(3_000)]) {
            const broken = JSON.stringify({ ...message, [member]: wrong });
            if (accepts(member, wrong)) continue;
            assert.throws(() => read(broken), MalformedMessage, `${broken.slice(0, 100)} of ${member}`);
          }
        }
      }
    });

    test('that are damaged anywhere are read or malformed, never anything else', () => {
      let seed = 1;
      const random = (below: number): number => {
        seed = (seed * 48_271) % 2_147_483_647;
        return seed % below;
      };
      const pieces = [
        '"',
        '{',
        '}',
        '[',
        ']',
        ',',
        ':',
        'null',
        '-1',
        '1e999',
        '\\u0000',
        '"t"',
        'true',
        '{"id":1}',
        '\0',
      ];
      for (let round = 0; round < 20_000; round++) {
        const text = JSON.stringify(messages[random(messages.length)]);
        const at = random(text.length);
        const damaged = text.slice(0, at) + (pieces[random(pieces.length)] ?? '') + text.slice(at + random(8));
        try {
          read(damaged);
        } catch (error) {
          assert.ok(error instanceof MalformedMessage, `${damaged}: ${String(error)}`);
          assert.ok(error.message.length < 200, 'the error does not repeat what was sent');
        }
      }
    });
  });
}

/** Values that the member may have. */
function accepts(member: string, value: unknown): boolean {
  if (member === 'labels')
    return typeof value === 'object' && value !== null && Object.keys(value).length === 0 && !Array.isArray(value);
  if (member === 'text') return typeof value === 'string';
  return member === 'last' && value === true;
}

test('a row is that of its change', () => {
  const change = { version: 1, entity: 'e', id: 'other', operation: 'upsert', row };
  const message = JSON.stringify({ t: 'changes', changes: [change], position });
  assert.throws(() => readFromControlPlane(message), MalformedMessage);
});

test('the common version is the greatest that both ends speak', () => {
  assert.equal(commonVersion({ min: 1, max: 1 }, { min: 1, max: 2 }), 1);
  assert.equal(commonVersion({ min: 1, max: 3 }, { min: 2, max: 5 }), 3);
  assert.equal(commonVersion({ min: 3, max: 4 }, { min: 1, max: 2 }), null);
});

test('a large message crosses in parts that are small enough', () => {
  const joiner = new PartJoiner();
  const value = '"\\\u0000ü☂😀'.repeat(5_000);
  const json = JSON.stringify({ t: 'result', id: 1, value });
  const parts = messageParts(json, 4096);
  assert.ok(parts.length > 10);
  let whole: string | null = null;
  for (const part of parts) {
    assert.ok(Buffer.byteLength(part) <= 4096);
    const read = readFromControlPlane(part);
    assert.ok(read?.t === 'part' && whole === null);
    whole = joiner.add(read.text, read.last);
  }
  assert.equal(whole, json);
  assert.deepEqual(messageParts('{}', 4096), ['{}']);
});

test('parts without end are refused', () => {
  const joiner = new PartJoiner();
  const text = 'x'.repeat(16 * 1024 * 1024);
  assert.throws(() => {
    for (let i = 0; i < 5; i++) joiner.add(text, false);
  }, MalformedMessage);
});

test('errors of the store cross the link whole, and others say nothing', () => {
  const error = new StoreError({ kind: 'foreign-key', entity: 'a', field: 'b', references: 'c', id: 'd' });
  const wire = toWireError(error);
  assert.ok(wire !== null);
  const read = readFromControlPlane(JSON.stringify({ t: 'failure', id: 1, error: wire }));
  assert.ok(read?.t === 'failure');
  const back = fromWireError(read.error);
  assert.ok(back instanceof StoreError);
  assert.deepEqual([back.detail, back.message], [error.detail, error.message]);
  assert.ok(fromWireError({ kind: 'usage', message: 'm' }) instanceof TypeError);
  assert.equal(toWireError(new Error('password=secret')), null);
});
