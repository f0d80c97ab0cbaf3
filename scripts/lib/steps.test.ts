import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { processesBelow } from './processes.ts';
import { runTogether } from './steps.ts';

const hangs = 'setInterval(() => {}, 1000)';

/** What is printed by a step that runs this code and may be silent for two seconds: processes start slowly on a busy machine. */
async function printed(t: TestContext, code: string): Promise<string> {
  const lines: string[] = [];
  const write = process.stdout.write.bind(process.stdout);
  // The report of the tests is not a text.
  t.mock.method(process.stdout, 'write', (chunk: string | Uint8Array) =>
    typeof chunk === 'string' ? lines.push(chunk) : write(chunk),
  );
  assert.equal(
    await runTogether([{ name: 'hung', command: process.execPath, argv: ['-e', code], silence: 2_000 }]),
    false,
  );
  assert.deepEqual(processesBelow(process.pid), []);
  return lines.join('');
}

test('a silent step fails; its first process is ended with those below it and named, and the rest finishes', async (t) => {
  const below = JSON.stringify(
    `require('node:child_process').spawn(process.execPath, ['-e', '${hangs}', 'below']); ${hangs}`,
  );
  const run = (code: string, name: string): string =>
    `spawn(process.execPath, ['-e', ${code}, '${name}'], { stdio: 'inherit' })`;
  const text = await printed(
    t,
    `const { spawn } = require('node:child_process');
    ${run(below, 'first')}.on('exit', () => console.log('the first has ended'));
    ${run(`"setTimeout(() => console.log('the second has finished'), 800)"`, 'second')};`,
  );
  assert.match(text, /the first has ended/);
  assert.match(text, /the second has finished/);
  assert.match(text, /FAILED {2}hung: no output for 2 s; ended first \(/);
});

test('a silent step without processes is ended itself', async (t) => {
  assert.match(await printed(t, hangs), /FAILED {2}hung: no output for 2 s; ended hung \(/);
});
