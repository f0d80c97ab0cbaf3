import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../../test/support/cpu-time.ts';
import { randomOf } from '../../../../test/support/random.ts';
import { encodeName, readName } from './domain-name.ts';
import { addressRecord, aliasRecord, answerTo, serviceRecord } from './hostile-server.fixture.ts';
import { encodeQuestion, isAnswerTo, readAnswer } from './message.ts';

const question = encodeQuestion(0x1234, 'a.test', 'SRV') as Buffer;
const sample = answerTo(question, {
  answers: [
    aliasRecord('a.test', 'b.test'),
    serviceRecord('b.test', 'c.test', 8080, 5, 1),
    { name: 'x.test', type: 28, data: Buffer.from('20010db8000000000000000000000001', 'hex') },
  ],
  additional: [addressRecord('c.test', '10.0.0.1', 0xffffffff)],
});

test('an answer is read as it was written', () => {
  assert.ok(isAnswerTo(sample, 0x1234));
  assert.deepEqual(readAnswer(sample, 'A.test.', 'SRV'), {
    code: 0,
    truncated: false,
    answers: [
      { type: 'CNAME', name: 'a.test', ttl: 60, target: 'b.test' },
      { type: 'SRV', name: 'b.test', ttl: 60, priority: 1, weight: 5, port: 8080, target: 'c.test' },
      { type: 'AAAA', name: 'x.test', ttl: 60, ip: '2001:db8::1' },
    ],
    // RFC 2181 8: a TTL with the topmost bit set is 0.
    additional: [{ type: 'A', name: 'c.test', ttl: 0, ip: '10.0.0.1' }],
  });
});

test('an answer to another name, type or class is ignored', () => {
  assert.equal(readAnswer(sample, 'b.test', 'SRV'), null);
  assert.equal(readAnswer(sample, 'a.test', 'A'), null);
  const notify = Buffer.from(sample);
  notify[2] = (notify[2] as number) | 0x20;
  assert.equal(readAnswer(notify, 'a.test', 'SRV'), null);
  assert.equal(isAnswerTo(question, 0x1234), false, 'a question');
  assert.equal(isAnswerTo(sample, 0x1235), false, 'another id');
});

test('a truncated or modified answer is either read or refused', () => {
  for (let end = 12; end < sample.length; end++) {
    assert.throws(() => readAnswer(sample.subarray(0, end), 'a.test', 'SRV'), RangeError, `cut at ${end}`);
  }
  for (let at = 2; at < sample.length; at++) {
    for (const value of [0, 1, 0x3f, 0x40, 0x7f, 0x80, 0xc0, 0xff]) {
      const changed = Buffer.from(sample);
      changed[at] = value;
      try {
        readAnswer(changed, 'a.test', 'SRV');
      } catch (error) {
        assert.ok(error instanceof RangeError, `${at} ${value} ${error}`);
      }
    }
  }
});

test('noise is read or refused, and quickly', () => {
  const next = randomOf(7);
  const random = (): number => next(32_768);
  const head = sample.subarray(0, 24);
  const begin = cpuTime();
  for (let round = 0; round < 3_000; round++) {
    const noise = Buffer.from(
      Array.from({ length: random() % 300 }, () => (random() % 4 === 0 ? 0xc0 : random() & 0xff)),
    );
    try {
      readAnswer(Buffer.concat([head, noise]), 'a.test', 'SRV');
    } catch (error) {
      assert.ok(error instanceof RangeError, String(error));
    }
  }
  assert.ok(cpuTime() - begin < 5_000);
});

test('a name with too many pointers is refused', () => {
  const names = Buffer.alloc(0x3ff0, 0xc0);
  for (let at = 2; at < names.length; at += 2) names.writeUInt16BE(0xc000 | (at - 2), at);
  names.writeUInt16BE(0, 0);
  assert.equal(readName(names, 2 * 127).name, '');
  assert.throws(() => readName(names, 2 * 128), RangeError);
});

/** A message of 64 kB: a name of many labels, each with a pointer to the next, and aliases that all point to its first. */
function manyLongNames(labels: number, label: Buffer): Buffer {
  const head = Buffer.from(answerTo(encodeQuestion(1, 'a.test', 'A') as Buffer, {}));
  const start = head.length + 11;
  const parts = [Buffer.alloc(1)];
  let first = start;
  let at = start + 1;
  for (let index = 0; index < labels; index++) {
    const step = Buffer.concat([Buffer.of(label.length), label, pointer(first)]);
    parts.push(step);
    first = at;
    at += step.length;
  }
  // Of type 10: no one reads what it holds.
  const store = record(Buffer.alloc(1), 10, Buffer.concat(parts));
  const alias = record(pointer(first), 5, pointer(first));
  const count = Math.floor((65_535 - head.length - store.length) / alias.length);
  head.writeUInt16BE(count + 1, 6);
  return Buffer.concat([head, store, ...Array.from({ length: count }, () => alias)]);
}

function pointer(to: number): Buffer {
  return Buffer.of(0xc0 | (to >> 8), to & 0xff);
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const numbers = Buffer.alloc(10);
  numbers.writeUInt16BE(type, 0);
  numbers.writeUInt16BE(1, 2);
  numbers.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, numbers, data]);
}

for (const [what, labels, label] of [
  ['126 labels', 126, Buffer.from('x')],
  ['126 odd labels', 126, Buffer.of(0xff)],
  ['4 long odd labels', 4, Buffer.alloc(62, 0xff)],
] as const) {
  test(`reads thousands of compressed names of ${what} in bounded time`, () => {
    const message = manyLongNames(labels, label);
    const times = Array.from({ length: 5 }, () => {
      const begin = cpuTime();
      assert.equal(readAnswer(message, 'a.test', 'A')?.answers.length, message.readUInt16BE(6) - 1);
      return cpuTime() - begin;
    });
    assert.ok(Math.min(...times) < 60, `${Math.min(...times)} ms`);
  });
}

test('names: what can be queried', () => {
  assert.equal(encodeName('a.test.')?.toString('latin1'), '\x01a\x04test\0');
  assert.equal(encodeName(`${'a'.repeat(63)}.test`)?.length, 70);
  const longest = `${'a.'.repeat(126)}a`;
  assert.equal(encodeName(longest)?.length, 255);
  for (const wrong of ['', '.', '..', 'a..b', '.a', `${'a'.repeat(64)}`, `${longest}a`, 'a b', 'a\0b', 'ä', 'a\\b']) {
    assert.equal(encodeName(wrong), null, wrong);
  }
});

test('names: bytes that no host name has are escaped', () => {
  const odd = Buffer.from('\x03a.b\x04t\0\x20\xff\0', 'latin1');
  const { name, end } = readName(odd, 0);
  assert.equal(name, 'a\\046b.t\\000\\032\\255');
  assert.equal(end, odd.length);
  assert.equal(encodeName(name), null);
});
