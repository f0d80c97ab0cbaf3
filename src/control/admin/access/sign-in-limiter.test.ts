import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type SignInAttempt, SignInLimiter } from './sign-in-limiter.ts';

function started(outcome: SignInAttempt | number): SignInAttempt {
  assert.notEqual(typeof outcome, 'number');
  return outcome as SignInAttempt;
}

function guess(limiter: SignInLimiter, address: string, token: string, right = false): boolean {
  const outcome = limiter.begin(address, token);
  if (typeof outcome === 'number') return false;
  outcome.done(right);
  return true;
}

test('an address may guess ten times, then once in six seconds', () => {
  let now = 1_000_000;
  const limiter = new SignInLimiter({ now: () => now });
  for (let i = 0; i < 10; i++) assert.ok(guess(limiter, '192.0.2.1', `wrong ${i}`), String(i));
  assert.equal(limiter.begin('192.0.2.1', 'wrong'), 6);
  assert.ok(guess(limiter, '192.0.2.2', 'wrong'), 'another address is not delayed');
  now += 6_000;
  assert.ok(guess(limiter, '192.0.2.1', 'wrong'));
  assert.equal(guess(limiter, '192.0.2.1', 'wrong'), false);
  now += 3_600_000;
  for (let i = 0; i < 10; i++) assert.ok(guess(limiter, '192.0.2.1', `wrong ${i}`), String(i));
});

test('parallel guesses are counted before they are answered', () => {
  const limiter = new SignInLimiter({ now: () => 0 });
  const outcomes = Array.from({ length: 100 }, (_, i) => limiter.begin('192.0.2.1', `wrong ${i}`));
  assert.equal(outcomes.filter((outcome) => typeof outcome !== 'number').length, 10);
});

test('parallel requests with one right token are one attempt, and cost nothing', () => {
  const limiter = new SignInLimiter({ now: () => 0 });
  const attempts = Array.from({ length: 100 }, () => started(limiter.begin('192.0.2.1', 'right')));
  for (const attempt of attempts) attempt.done(true);
  for (let i = 0; i < 10; i++) assert.ok(guess(limiter, '192.0.2.1', `wrong ${i}`), String(i));
});

test('a token that was right before is not delayed by wrong ones from its address', () => {
  const limiter = new SignInLimiter({ now: () => 0 });
  assert.ok(guess(limiter, '192.0.2.1', 'right', true));
  while (guess(limiter, '192.0.2.1', 'wrong'));
  assert.ok(guess(limiter, '192.0.2.1', 'right', true));
  assert.equal(guess(limiter, '192.0.2.1', 'right but new', true), false, 'an oracle for guesses');
  assert.ok(guess(limiter, '192.0.2.1', 'right', false), 'it was revoked');
  assert.equal(guess(limiter, '192.0.2.1', 'right', false), false);
});

test('the addresses of an IPv6 network are one client', () => {
  const limiter = new SignInLimiter({ now: () => 0 });
  for (let i = 0; i < 10; i++) assert.ok(guess(limiter, `2001:db8::${i + 1}`, `wrong ${i}`));
  assert.equal(guess(limiter, '2001:db8:0:0:ffff::1', 'wrong'), false);
  assert.ok(guess(limiter, '2001:db8:0:1::1', 'wrong'));
});
