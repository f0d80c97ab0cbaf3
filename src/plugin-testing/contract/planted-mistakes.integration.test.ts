import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { probePlugin } from '../gateway/probe.fixture.ts';
import { pluginContract } from '../index.ts';
import { planted } from './planted-plugins.fixture.ts';

const script = fileURLToPath(new URL('./plain-runner.fixture.ts', import.meta.url));

test('each planted mistake is found, without a test runner', async () => {
  // A process of its own: this runner would take the unhandled rejection for its own.
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...process.execArgv.filter((flag) => !flag.startsWith('--test')), script],
    {
      timeout: 120_000,
      env: { ...process.env, NODE_TEST_CONTEXT: undefined },
    },
  );
  const failed = JSON.parse(stdout) as Readonly<Record<string, readonly string[]>>;
  for (const [name, { finds }] of Object.entries(planted)) {
    assert.ok(
      failed[name]?.includes(finds),
      `'${name}' was not found by '${finds}' but by: ${failed[name]?.join(', ')}`,
    );
  }
});

test('an unknown case in `skip` is refused, and a known one is not registered', () => {
  const plugin = probePlugin(() => ({}));
  assert.throws(() => pluginContract(plugin, { skip: ['no such case'] }, () => {}), /there is no case 'no such case'/);
  const names: string[] = [];
  pluginContract(plugin, { skip: ['Accept in every form'] }, (name) => names.push(name));
  assert.ok(names.length > 20);
  assert.ok(!names.includes('probe: Accept in every form'));
});
