import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';

function hider(name: string, priority: number, cookies: readonly string[]) {
  return definePlugin({
    name,
    version: '1.0.0',
    priority,
    protocols: httpProtocols,
    schema: { config: record({}) },
    setup: () => ({ access: ({ upstream }) => void upstream.removeCookies(cookies) }),
  });
}

const plugin = () =>
  testPlugin(hider('first', 20, ['session']), { otherPlugins: [{ plugin: hider('second', 10, ['login']) }] });

async function left(cookie: string | readonly string[]): Promise<readonly string[] | undefined> {
  const { upstream } = await plugin().request({ headers: { cookie } });
  return upstream?.headers['cookie'];
}

test('a plugin cannot restore what another plugin hides', async () => {
  assert.deepEqual(await left('a=1; session=x; login=y; b=2'), ['a=1; b=2']);
});

test('removing a cookie removes its parts, but not other names with the same prefix', async () => {
  assert.deepEqual(await left('session=x; session_2=y; sessions=z; session_20=u'), ['sessions=z; session_20=u']);
});

test('several lines are one list; the line is removed with the last cookie', async () => {
  assert.deepEqual(await left(['session=x; a=1', 'login=2; b=2']), ['a=1; b=2']);
  assert.equal(await left('session=x; login=y'), undefined);
});

test('a request without those cookies is unchanged', async () => {
  assert.deepEqual(await left(['a=1;b=2', 'c=3']), ['a=1;b=2', 'c=3']);
});
