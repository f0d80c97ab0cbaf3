import assert from 'node:assert/strict';
import { startDbLess } from '../support/db-less.ts';
import { testEssentials } from '../support/essentials.ts';

testEssentials(async () => {
  const node = await startDbLess({ settings: { workers: 2 } });
  return {
    ...node,
    async load(document) {
      const { status, body } = await node.load(document);
      assert.equal(status, 201, JSON.stringify(body));
    },
    settled: async () => {},
  };
});
