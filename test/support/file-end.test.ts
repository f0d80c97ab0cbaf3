import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { collectOutput } from '../../src/cli/testing/process-output.ts';
import { isAlive } from './node-in-prefix.ts';
import { until } from './until.ts';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-file-end-'));
after(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

/** Runs a file with one test, as the gate does. */
async function runFile(
  body: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number | null; output: string; seconds: number }> {
  const file = join(folder, `${++files}.test.ts`);
  const imports = ['gateway', 'gateway-process', 'raw-backend'].map(
    (name) =>
      `import * as ${name.replaceAll('-', '_')} from ${JSON.stringify(join(import.meta.dirname, `${name}.ts`))};`,
  );
  writeFileSync(
    file,
    `import assert from 'node:assert/strict'; import { test } from 'node:test'; ${imports.join('')}
    test('leaves something behind', async () => { ${body} });`,
  );
  const { NODE_TEST_CONTEXT: _, ...own } = process.env;
  const flags = [
    '--disable-warning=ExperimentalWarning',
    '--conditions=sluicegate-source',
    '--test',
    '--test-timeout=60000',
  ];
  const child = spawn(process.execPath, [...flags, file], {
    env: { ...own, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const { output } = collectOutput(child);
  let ended = 0;
  child.stdout.on('data', (text: string) => {
    if (text.includes('leaves something behind')) ended ||= performance.now();
  });
  await once(child, 'close');
  return { code: child.exitCode, output: output(), seconds: (performance.now() - ended) / 1000 };
}

describe('a test file whose test leaves something running', () => {
  it('ends soon after a failed assertion, which is reported; its processes are killed', async () => {
    const { code, output, seconds } = await runFile(`
      const node = gateway_process.startGatewayProcess(${JSON.stringify(join(folder, 'prefix'))});
      await node.started();
      console.log('started', node.child.pid);
      assert.equal('found', 'expected');`);
    assert.equal(code, 1);
    assert.match(output, /\+ 'found'\n\s+- 'expected'/);
    assert.ok(seconds < 20, `${seconds} s`);
    const pid = Number(/started (\d+)/.exec(output)?.[1]);
    assert.ok(pid > 0);
    await until(() => !isAlive(pid));
  });

  it('ends soon after a failed assertion also when a gateway runs in its own process', async () => {
    const { code, output, seconds } = await runFile(`
      await gateway.startTestGateway();
      assert.equal('found', 'expected');`);
    assert.equal(code, 1);
    assert.match(output, /\+ 'found'\n\s+- 'expected'/);
    assert.ok(seconds < 20, `${seconds} s`);
  });

  it('fails when the test has passed, and says what is open', async () => {
    const { code, output } = await runFile('await raw_backend.startRawBackend();', { TEST_FILE_GRACE: '0.5' });
    assert.equal(code, 1);
    assert.match(output, /all tests have ended, but 0\.5 s later the file still has: .*TCPServerWrap/);
  });
});
