import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failureFields, failureMessage } from './failure-fields.ts';

function fail(): never {
  throw new Error('it fails again');
}

test('failureFields() has the stack, the place and the causes, and no other member', () => {
  const cause = Object.assign(new Error('no such row'), { password: 'hunter2' });
  cause.stack = 'Error: no such row\n    at find (file:///srv/plugins/quota.ts?version=1:3:9)';
  const error = Object.assign(new Error('cannot load the quota', { cause }), { headers: { cookie: 'hunter2' } });
  error.stack = 'Error: cannot load the quota\n    at node:internal/x:1:1';
  const { error: text, at } = failureFields(error);
  assert.equal(at, '/srv/plugins/quota.ts:3:9');
  assert.match(
    text,
    /^Error: cannot load the quota\n {4}at node:internal.*\ncaused by: Error: no such row\n {4}at find/,
  );
  assert.ok(!text.includes('hunter2'));
});

test('failureFields() is bounded', () => {
  const huge = new Error('x'.repeat(1_000_000), { cause: new Error('y'.repeat(1_000_000)) });
  Object.assign(huge.cause as Error, { cause: huge });
  assert.ok(failureFields(huge).error.length < 40_000);
  const deep = new Error('deep');
  deep.stack = `Error: deep\n${'    at f (file:///srv/p.ts:1:1)\n'.repeat(1000)}`;
  assert.ok(failureFields(deep).error.split('\n').length <= 32);
});

test('whatever is thrown has a text', () => {
  const hostile = Object.defineProperties(
    {},
    {
      stack: { get: fail },
      message: { get: fail },
      cause: { get: fail },
      name: { get: fail },
      toString: { value: fail },
    },
  );
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  for (const thrown of [
    'x',
    7,
    null,
    undefined,
    1n,
    Symbol('x'),
    fail,
    {},
    [],
    Object.create(null),
    hostile,
    revoked.proxy,
  ]) {
    assert.ok(failureFields(thrown).error.length > 0);
    assert.equal(typeof failureMessage(thrown), 'string');
  }
  assert.equal(failureFields('no stack').error, 'thrown: no stack');
  assert.equal(failureMessage(new Error('one\ntwo')), 'one');
});
