import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CallFailed, type CallFailure, definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';

const caller = definePlugin({
  name: 'caller',
  version: '1.0.0',
  priority: 5,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    async access(context) {
      await context.call({ to: { service: 'users' }, timeout: 1000, maxBytes: 1000 });
      return undefined;
    },
  }),
});

const cases: readonly (readonly [reason: CallFailure, status: number, answered: number, message: RegExp])[] = [
  ['unreachable', 502, 502, /An invalid response was received/],
  ['timeout', 504, 504, /The upstream server is timing out/],
  ['no-target', 503, 503, /failure to get a peer/],
  ['bad-answer', 502, 502, /An invalid response was received/],
  ['too-large', 503, 503, /Service temporarily unavailable/],
  ['no-service', 503, 503, /no Service found/],
  ['no such reason' as CallFailure, 200, 502, /An invalid response was received/],
];
for (const [reason, status, answered, message] of cases) {
  test(`a CallFailed (${reason}, ${status}) that access does not catch is answered with ${answered}`, async () => {
    const harness = testPlugin(caller, { calls: () => Promise.reject(new CallFailed(reason, status, 'it failed')) });
    const { response } = await harness.request();
    assert.equal(response.status, answered);
    assert.match(String(response.body), message);
    assert.deepEqual(
      harness.logLines.map((line) => [line.message, line.fields['call_failed']]),
      [['a call of the plugin to a backend failed; requests are rejected', reason]],
    );
  });
}
