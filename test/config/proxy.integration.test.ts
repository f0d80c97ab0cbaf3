import assert from 'node:assert/strict';
import { testEssentials } from '../support/essentials.ts';
import { startTestGateway } from '../support/gateway.ts';

testEssentials(async () => {
  const node = await startTestGateway({ settings: { workers: 2 } });
  return {
    ...node,
    async load(document) {
      const { status, body } = await node.admin('POST', '/config/apply', document);
      assert.equal(status, 200, JSON.stringify(body));
    },
    settled: async () => {},
  };
});
