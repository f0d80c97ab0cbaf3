import assert from 'node:assert/strict';
import { test } from 'node:test';
import { randomOf } from '../../../test/support/random.ts';
import { bindAnswer, type LdapAnswer, readAnswer } from './ldap-messages.ts';

/** An answer to a bind: message 1, success, with a text. */
const success = Buffer.from('301102010161 0c0a0100 0400 0405 68656c6c6f'.replaceAll(' ', ''), 'hex');

/** What was read; null when bytes are missing; 'refused' when it is no answer. */
function read(bytes: Buffer): LdapAnswer | null | 'refused' {
  try {
    return readAnswer(bytes);
  } catch (error) {
    assert.ok(error instanceof Error && error.constructor === Error, String(error));
    return 'refused';
  }
}

function isSuccess(answer: LdapAnswer | null | 'refused'): boolean {
  return answer !== null && answer !== 'refused' && answer.operation === bindAnswer && answer.resultCode === 0;
}

test('reads an answer to a bind', () => {
  const { size, ...rest } = readAnswer(success) as LdapAnswer;
  assert.deepEqual(rest, { id: 1, operation: bindAnswer, resultCode: 0, diagnostic: 'hello' });
  assert.equal(size, success.byteLength);
});

test('waits for the rest of an answer that is incomplete', () => {
  for (let end = 0; end < success.byteLength; end++)
    assert.equal(read(success.subarray(0, end)), null, `cut at ${end}`);
});

test('refuses an answer that ends early within its frame', () => {
  for (let end = 2; end < success.byteLength; end++) {
    const cut = Buffer.from(success.subarray(0, end));
    cut[1] = end - 2;
    assert.equal(read(cut), 'refused', `cut at ${end}`);
    if (end < 7) continue;
    cut[6] = end - 7;
    assert.equal(read(cut), 'refused', `operation cut at ${end}`);
  }
});

test('takes nothing but the result code 0 for a success', () => {
  for (let at = 0; at < success.byteLength; at++) {
    for (let value = 0; value < 256; value++) {
      const changed = Buffer.from(success);
      changed[at] = value;
      const answer = read(changed);
      if (isSuccess(answer)) assert.ok(at === 4 || at >= 13 || value === success[at], `${at} ${value}`);
    }
  }
});

test('refuses a length above the limit as soon as it is known', () => {
  for (const head of ['3083010001', '308400010001', '30847fffffff', '3084ffffffff', '3080', '30858000000000', '30ff']) {
    assert.equal(read(Buffer.from(head, 'hex')), 'refused', head);
  }
  assert.equal(read(Buffer.from('3082ffff020101', 'hex')), 'refused', 'the head counts');
  assert.equal(read(Buffer.from('3082fffc020101', 'hex')), null);
});

test('reads or refuses noise, and never takes it for a success', () => {
  const next = randomOf(11);
  const random = (): number => next(32_768);
  const tags = [0x30, 0x02, 0x0a, 0x04, 0x61, 0x78, 0x80, 0x84, 0, 1, 7];
  for (let round = 0; round < 20_000; round++) {
    const size = random() % 100;
    const noise = Array.from({ length: size }, () =>
      random() % 3 === 0 ? random() & 0xff : (tags[random() % tags.length] ?? 0),
    );
    assert.ok(!isSuccess(read(Buffer.from([0x30, size, ...noise]))), Buffer.from(noise).toString('hex'));
  }
});
