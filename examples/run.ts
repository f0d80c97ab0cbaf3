import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startItems } from './backends/items.ts';
import type { ExampleBackend } from './backends/json-backend.ts';
import { startOrders } from './backends/orders.ts';
import { startUsers } from './backends/users.ts';
import { configure } from './configure.ts';

/**
 * `npm run example`: three backends, and a gateway in front of them. A gateway that runs already is used; the addresses
 * are `ADMIN_URL` (default http://127.0.0.1:8001) and `PROXY_URL` (default http://127.0.0.1:8000). One that is started
 * here has a directory of its own, so that the store of `npm start` stays as it is. Ctrl-C ends it all.
 */
const adminUrl = (process.env['ADMIN_URL'] ?? 'http://127.0.0.1:8001').replace(/\/$/, '');
const proxyUrl = (process.env['PROXY_URL'] ?? 'http://127.0.0.1:8000').replace(/\/$/, '');

const backends: ExampleBackend[] = [];
let gateway: ChildProcess | null = null;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(0));

try {
  backends.push(await startUsers(9001), await startOrders(9002), await startItems(9003));
  if (!(await answers(adminUrl))) gateway = await startGateway();
  await configure(adminUrl, backends);
  printTour();
} catch (error) {
  process.stderr.write(`example: ${error instanceof Error ? error.message : String(error)}\n`);
  await end(1);
}

async function startGateway(): Promise<ChildProcess> {
  say(`no gateway answers at ${adminUrl}; starting one ...`);
  const main = join(import.meta.dirname, '..', 'src', 'main.ts');
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, 'start'], {
    stdio: 'inherit',
    env: { KONG_PREFIX: join('.sluicegate', 'example'), ...process.env },
  });
  const left = once(child, 'exit');
  left.then(() => {
    if (gateway === child) void end(1);
  });
  for (let tries = 0; tries < 150; tries++) {
    if (child.exitCode !== null) throw new Error('the gateway did not start; its last lines say why');
    if (await answers(adminUrl)) return child;
    await delay(100);
  }
  child.kill();
  throw new Error(`the gateway does not answer at ${adminUrl}`);
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/status`)).ok;
  } catch {
    return false;
  }
}

function printTour(): void {
  say(`three backends are behind the gateway: ${backends.map(({ name, url }) => `${name} (${url})`).join(', ')}

Try:
  curl -i ${proxyUrl}/users/42
  curl -s '${proxyUrl}/orders?user=42'
  curl -s -X POST ${proxyUrl}/orders -H 'Content-Type: application/json' -d '{"user":42,"total":12.5}'
  curl -s '${proxyUrl}/items?limit=3'
  curl -s '${proxyUrl}/items?page=2&size=3'
  curl -s '${proxyUrl}/items?before=2026-01-01T00:05:00Z&limit=3'
  curl -s '${adminUrl}/services?limit=2'
  curl -i -X POST ${adminUrl}/services/users/plugins -d name=correlation-id -d config.echo_downstream=true
  curl -i ${proxyUrl}/users/42

Ctrl-C ends it.`);
}

function say(text: string): void {
  process.stdout.write(`example: ${text}\n`);
}

async function end(code: number): Promise<void> {
  const child = gateway;
  gateway = null;
  if (child !== null && child.exitCode === null) {
    const left = once(child, 'exit');
    child.kill('SIGTERM');
    await left;
  }
  await Promise.all(backends.map((backend) => backend.close()));
  process.exit(code);
}
