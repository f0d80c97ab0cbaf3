import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, test } from 'node:test';
import { root } from './files.ts';
import { script } from './steps.ts';
import { integrationTests, longFiles, skippedInCi, spread, testSummary } from './test-step.ts';

const output =
  '✔ works (1.2ms)\n﹣ talks to PostgreSQL (0.1ms) # needs PostgreSQL\nℹ tests 2\nℹ pass 1\nℹ fail 0\nℹ skipped 1\n';
const before = process.env['CI'];
afterEach(() => {
  if (before === undefined) delete process.env['CI'];
  else process.env['CI'] = before;
});

test('the summary counts tests, and names the skipped ones with their reasons', () => {
  assert.equal(testSummary(output), '1 passed, 1 skipped\n      skipped: talks to PostgreSQL # needs PostgreSQL');
});

test('a skip is a failure only in CI', () => {
  delete process.env['CI'];
  assert.equal(skippedInCi(output), null);
  process.env['CI'] = 'true';
  assert.equal(skippedInCi(output), '1 tests were skipped');
  assert.equal(skippedInCi(output.replace('skipped 1', 'skipped 0')), null);
});

test('the files that take longest are there, and run first', () => {
  for (const file of longFiles) assert.ok(existsSync(join(root, file)), file);
  const files = integrationTests().argv.filter((word) => word.endsWith('.test.ts'));
  assert.deepEqual(files.slice(0, longFiles.length), longFiles);
  assert.equal(new Set(files).size, files.length);
});

test('browser tests are spread among the others', () => {
  assert.deepEqual(spread(['a', 'b'], ['1', '2', '3', '4']), ['1', 'a', '2', '3', 'b', '4']);
  assert.deepEqual(spread([], ['1', '2']), ['1', '2']);
  const files = integrationTests().argv.filter((word) => word.endsWith('.test.ts'));
  const places = files.flatMap((file, place) => (file.startsWith('test/dashboard/') ? [place] : []));
  assert.ok(places.length > 10);
  for (const [index, place] of places.slice(1).entries()) assert.ok(place - (places[index] ?? 0) > 5, files[place]);
});

test('test files run in the given order, and a failure of one is the failure of all', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-test-step-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = (name: string, body: string): string => {
    const path = join(folder, `${name}.test.mjs`);
    writeFileSync(path, `import { test } from 'node:test'; test('of ${name}', () => { ${body} });`);
    return path;
  };
  const run = (...files: readonly string[]): { readonly status: number | null; readonly stdout: string } => {
    const { command, argv } = script('tests', 'scripts/lib/run-test-files.ts', '1', '10000', ...files);
    const { NODE_TEST_CONTEXT: _, ...env } = process.env;
    return spawnSync(command, argv, { env, encoding: 'utf8' });
  };
  const [last, first, bad] = [file('b', ''), file('a', ''), file('c', 'throw new Error("no")')];
  const good = run(last, first);
  assert.equal(good.status, 0, good.stdout);
  assert.match(good.stdout, /of b[\s\S]*of a[\s\S]*ℹ pass 2/);
  const failed = run(bad, first);
  assert.equal(failed.status, 1);
  assert.match(failed.stdout, /✖ of c[\s\S]*✔ of a[\s\S]*ℹ fail 1/);
});
