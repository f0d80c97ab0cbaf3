import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BackendAnswer, type BackendCall, CallFailed } from 'sluicegate/plugin-sdk';
import { testPlugin } from 'sluicegate/plugin-testing';
import remoteAuth from './index.ts';

/** The plugin with a service that gives this answer, and what the service was asked. */
function rig(answer: (token: string) => readonly [status: number, body: string] | Error) {
  const calls: BackendCall[] = [];
  const plugin = testPlugin(remoteAuth, {
    config: { service: 'tokens' },
    calls(call) {
      calls.push(call);
      const given = answer(new Map(call.headers).get('Authorization')?.replace('Bearer ', '') ?? '');
      if (given instanceof Error) throw given;
      return { status: given[0], body: Buffer.from(given[1]) } as unknown as BackendAnswer;
    },
  });
  const ask = async (token: string | null) =>
    plugin.request({ headers: token === null ? {} : { Authorization: `Bearer ${token}` } });
  return { plugin, calls, ask };
}

test('a valid token is checked once, and the backend learns whose it is', async () => {
  const { ask, calls } = rig((token) => (token === 'good' ? [200, '{"id":"ada"}'] : [401, '']));
  for (let at = 0; at < 3; at++) {
    const { upstream, response } = await ask('good');
    assert.deepEqual([response.status, upstream?.header('x-credential-identifier')], [200, 'ada']);
  }
  assert.equal(calls.length, 1);
  assert.deepEqual([calls[0]?.to, calls[0]?.timeout, calls[0]?.detached], [{ service: 'tokens' }, 2000, true]);
});

test('requests at the same time share one call', async () => {
  const { ask, calls } = rig(() => [200, '{"id":"ada"}']);
  const outcomes = await Promise.all(Array.from({ length: 20 }, () => ask('good')));
  assert.ok(outcomes.every(({ response }) => response.status === 200));
  assert.equal(calls.length, 1);
});

test('an unknown token is refused, and asked for once', async () => {
  const { ask, calls } = rig(() => [403, 'no']);
  for (let at = 0; at < 3; at++) {
    const { response, upstream } = await ask('bad');
    assert.deepEqual([response.status, upstream], [401, null]);
    assert.equal(response.header('www-authenticate'), 'Bearer realm="api"');
  }
  assert.equal(calls.length, 1);
});

test('without a token nobody is asked', async () => {
  const { ask, calls } = rig(() => [200, '{"id":"ada"}']);
  assert.equal((await ask(null)).response.status, 401);
  assert.equal((await ask('not a token')).response.status, 401);
  assert.equal(calls.length, 0);
});

test('it fails closed: no answer, and no useful answer, let nobody in', async () => {
  const answers = [
    new CallFailed('timeout', 504, 'no answer'),
    [500, '{"id":"ada"}'],
    [200, '{'],
    [200, '{}'],
    [200, '{"id":"a\\r\\nX-Admin: 1"}'],
    [302, ''],
  ] as const;
  for (const answer of answers) {
    const { ask, plugin } = rig(() => answer);
    const { response, upstream } = await ask('good');
    assert.deepEqual([response.status, upstream], [503, null], JSON.stringify(answer));
    assert.equal(plugin.counts.get('remote-auth.check_failures'), 1);
    assert.doesNotMatch(JSON.stringify(plugin.logLines), /good/);
  }
});

test('an identity that the client claims does not reach the backend', async () => {
  const { plugin } = rig(() => [200, '{"id":"ada"}']);
  const headers = { Authorization: 'Bearer good', 'X-Credential-Identifier': 'admin', 'X-Consumer-Username': 'admin' };
  const { upstream } = await plugin.request({ headers });
  assert.deepEqual(upstream?.headers['x-credential-identifier'], ['ada']);
  assert.equal(upstream?.headers['x-consumer-username'], undefined);
});
