import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundledPlugins } from '../../../../plugins/registry.ts';
import { similarPlugins } from './similar-plugins.ts';

test('every plugin that is suggested is bundled, and replaces one that is not', () => {
  for (const [missing, similar] of Object.entries(similarPlugins)) {
    assert.equal(bundledPlugins.has(missing), false, missing);
    assert.ok(similar.length > 0);
    for (const name of similar) assert.ok(bundledPlugins.has(name), `${missing}: ${name}`);
  }
});
