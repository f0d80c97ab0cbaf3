import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { findFiles, root } from './files.ts';
import { groupTestFiles } from './test-groups.ts';

test('each test file is in one group, or runs alone when it changes its process', () => {
  const files = findFiles('src/shared/**/*.test.ts', 'src/plugins/*/*.test.ts');
  const run = groupTestFiles(files);
  const alone = run.filter((file) => files.includes(file));
  const groups = run.filter((file) => !files.includes(file)).map((file) => readFileSync(file, 'utf8'));
  for (const file of files) {
    const url = JSON.stringify(pathToFileURL(join(root, file)));
    const found = groups.filter((text) => text.includes(url)).length + Number(alone.includes(file));
    assert.equal(found, 1, file);
  }
  // Its rig sets the clock.
  assert.ok(alone.includes('src/plugins/proxy-cache/responses.test.ts'));
  assert.ok(groups.length > 1 && run.length < files.length * 0.6, `${run.length} of ${files.length}`);
});
