import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startItems } from '../examples/backends/items.ts';
import type { ExampleBackend } from '../examples/backends/json-backend.ts';
import { startOrders } from '../examples/backends/orders.ts';
import { startUsers } from '../examples/backends/users.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';
import { readTourComment, squeeze, type TourComment, tourPattern, withStatus } from './support/tour-comment.ts';

/** Runs the README's tour as written: every block fenced as ```sh tour has lines that begin with `curl`. */
interface Step extends TourComment {
  readonly line: number;
}

const readme = join(import.meta.dirname, '..', 'README.md');

describe("the README's tour", () => {
  let gateway: TestGateway;
  let backends: ExampleBackend[];
  before(async () => {
    gateway = await startTestGateway();
    backends = [await startUsers(), await startOrders(), await startItems()];
  });
  after(async () => {
    await gateway.stop();
    await Promise.all(backends.map((backend) => backend.close()));
  });

  const steps = readSteps(readFileSync(readme, 'utf8'));
  const outputs: string[] = [];

  it('has steps', () => {
    assert.ok(steps.length >= 3, `${steps.length} steps in blocks fenced as \`\`\`sh tour`);
  });

  for (const step of steps) {
    it(`line ${step.line}: ${step.command}`, async () => {
      const output = await runShell(withPorts(step.command, gateway, backends));
      const status = Number(/\nstatus (\d{3})\n$/.exec(output)?.[1]);
      if (step.status !== null) assert.equal(status, step.status, output);
      else assert.ok(status < 400, output);
      assert.match(squeeze(output), tourPattern(withPorts(step.expected, gateway, backends)));
      outputs.push(output);
    });
  }

  it('has the results that its text states: two 201, the answer for /42, and a list that ends', () => {
    const [service = '', route = '', proxied = '', list = ''] = outputs;
    assert.match(service, /\nstatus 201\n$/);
    assert.match(route, /\nstatus 201\n$/);
    assert.match(proxied, /"id":42,/);
    const { data, next, nextCursor } = JSON.parse(list.split('\nstatus')[0] as string) as Record<string, unknown>;
    assert.equal((data as unknown[]).length, 1);
    assert.deepEqual([next, nextCursor], [null, null]);
  });

  it('shows plugins: the request id is returned, and a listed address is accepted', () => {
    const [plugin = '', tagged = '', , passed = ''] = outputs.slice(4);
    assert.match(plugin, /\nstatus 201\n$/);
    assert.match(tagged, /^Kong-Request-ID: \S+/im);
    assert.match(passed, /\nstatus 200\n$/);
  });
});

function readSteps(text: string): readonly Step[] {
  const steps: Step[] = [];
  let inside = false;
  for (const [index, line] of text.split('\n').entries()) {
    if (line.startsWith('```')) inside = /^```sh tour\b/.test(line);
    else if (inside && line.startsWith('curl ')) {
      steps.push({ line: index + 1, ...readTourComment(line) });
    }
  }
  return steps;
}

/** The tour uses the default ports; the test replaces them by its own. */
function withPorts(text: string, gateway: TestGateway, backends: readonly ExampleBackend[]): string {
  const ports: Readonly<Record<string, number>> = {
    8000: gateway.proxyPort,
    8001: Number(new URL(gateway.adminUrl).port),
    8100: Number(new URL(gateway.statusUrl).port),
    9001: backends[0]?.port ?? 0,
    9002: backends[1]?.port ?? 0,
    9003: backends[2]?.port ?? 0,
  };
  return text
    .replace(/\b(?:800[01]|8100|900[123])\b/g, (port) => String(ports[port]))
    .replaceAll('localhost:', '127.0.0.1:');
}

async function runShell(command: string): Promise<string> {
  const child = spawn('sh', ['-c', withStatus(command)], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let errors = '';
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString();
  });
  child.stderr.on('data', (chunk: Buffer) => {
    errors += chunk.toString();
  });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  assert.equal(code, 0, `${command}: ${errors}`);
  return output;
}
