import assert from 'node:assert/strict';
import { test } from 'node:test';
import { processesBelow } from './processes.ts';
import { runTogether } from './steps.ts';

test('ends a step without output, and names its running processes', async (t) => {
  const lines: string[] = [];
  t.mock.method(process.stdout, 'write', (line: string) => lines.push(line));
  const hangs = 'setInterval(() => {}, 1000)';
  const parent = `require('node:child_process').spawn(process.execPath, ['-e', '${hangs}', 'the-test'], { stdio: 'ignore' }); ${hangs}`;
  const step = { name: 'hung', command: process.execPath, argv: ['-e', parent], silence: 500 };
  assert.equal(await runTogether([step]), false);
  assert.match(lines.join(''), /FAILED {2}hung: no output for 0\.5 s; still running: the-test/);
  assert.deepEqual(processesBelow(process.pid), []);
});
