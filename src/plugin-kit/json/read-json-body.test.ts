import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, replyJson } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import { readJsonBody } from './index.ts';

const reading = definePlugin({
  name: 'reading',
  version: '1.0.0',
  priority: 1,
  protocols: httpProtocols,
  schema: { config: record({}) },
  needs: { requestBody: { maxBytes: 50 } },
  setup: () => ({
    async access(context) {
      const { value, reply } = await readJsonBody(context);
      return reply ?? replyJson(200, value);
    },
  }),
});

test('a JSON body is read, and every other one is refused with its reason', async () => {
  const plugin = testPlugin(reading);
  const ask = async (type: string | readonly string[], body: string) => {
    const headers = { 'Content-Type': type };
    const { response } = await plugin.request({ method: 'POST', headers, body });
    return [response.status, (JSON.parse(response.body) as { message?: string }).message ?? response.body];
  };
  assert.deepEqual(await ask('application/merge-patch+json; charset=utf-8', '{"a":1}'), [200, '{"a":1}']);
  assert.deepEqual(await ask('text/plain', '{}'), [415, 'The body must be JSON']);
  assert.deepEqual(await ask(['application/json', 'text/plain'], '{}'), [415, 'The body must be JSON']);
  assert.deepEqual(await ask('application/json', '{'), [
    400,
    'the body is not valid JSON: it ends too early (line 1, column 2)',
  ]);
  assert.equal((await ask('application/json', `"${'x'.repeat(60)}"`))[0], 413);
});
