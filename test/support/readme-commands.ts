import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import type { TestGateway } from './gateway.ts';

const run = promisify(execFile);

/** A command of a README, and what it printed. */
export interface CommandOutput {
  readonly command: string;
  readonly output: string;
}

/**
 * Runs the `curl` commands of a README's ```sh blocks in order and unchanged, against this gateway instead of ports 8000
 * and 8001. Commands to the Admin API must succeed. Returns the output of the commands to the proxy.
 */
export async function runReadme(readme: URL, gateway: TestGateway): Promise<readonly CommandOutput[]> {
  const outputs: CommandOutput[] = [];
  for (const command of commandsOf(readFileSync(readme, 'utf8'))) {
    const admin = command.includes('localhost:8001');
    const line = command
      .replaceAll('localhost:8001', new URL(gateway.adminUrl).host)
      .replaceAll('localhost:8000', new URL(gateway.proxyUrl).host)
      .replace(/^curl/, `curl -sS --max-time 20${admin ? ' --fail-with-body' : ''}`);
    const { stdout } = await run('sh', ['-c', line]).catch((error: { stdout?: string; message: string }) =>
      assert.fail(`${command}\n${error.stdout ?? ''}\n${error.message}`),
    );
    if (!admin) outputs.push({ command, output: stdout });
  }
  return outputs;
}

/** A command extends to the next line that begins with `curl`; lines that begin with `#` state the result. */
function commandsOf(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^```sh\n([\s\S]*?)^```/gm)].map(([, block = '']) => block);
  const lines = blocks.join('\n').split('\n');
  const commands: string[] = [];
  for (const line of lines.filter((one) => !one.startsWith('#') && one.trim() !== '')) {
    if (line.startsWith('curl')) commands.push(line);
    else commands.push(`${commands.pop() ?? ''}\n${line}`);
  }
  return commands;
}
