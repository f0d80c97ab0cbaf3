import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { loadSettings } from '../src/shared/settings/sources/load.ts';
import { startItems } from './backends/items.ts';
import type { ExampleBackend } from './backends/json-backend.ts';
import { startOrders } from './backends/orders.ts';
import { startUsers } from './backends/users.ts';
import { configure } from './configure.ts';
import { type ExampleGateway, findGateway } from './find-gateway.ts';

/**
 * `npm run example`: three backends on free ports, and a gateway in front of them: the one of `ADMIN_URL` and
 * `PROXY_URL`, else the one that runs in the prefix, else one that is started with a prefix of its own, so that the store
 * of `npm start` stays as it is. Listeners and all else follow the settings (`KONG_PROXY_LISTEN`, ...). Ctrl-C ends it.
 */
const main = join(import.meta.dirname, '..', 'src', 'main.ts');
const ownPrefix = { KONG_PREFIX: join('.sluicegate', 'example') };

const backends: ExampleBackend[] = [];
let child: ChildProcess | null = null;

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void end(0));

try {
  const gateway = namedGateway() ?? findGateway(settingsOf(process.env)) ?? (await startGateway());
  backends.push(await startUsers(), await startOrders(), await startItems());
  await configure(gateway, backends);
  printTour(gateway);
} catch (error) {
  const cause = error instanceof Error && error.cause instanceof Error ? ` (${error.cause.message})` : '';
  process.stderr.write(`example: ${error instanceof Error ? error.message : String(error)}${cause}\n`);
  await end(1);
}

function settingsOf(env: NodeJS.ProcessEnv) {
  return loadSettings({ env, cwd: process.cwd() }).settings;
}

function namedGateway(): ExampleGateway | null {
  const { ADMIN_URL: admin, PROXY_URL: proxy = 'http://127.0.0.1:8000', SLUICEGATE_ADMIN_TOKEN: token } = process.env;
  if (admin === undefined) return null;
  return { adminUrl: admin.replace(/\/$/, ''), proxyUrl: proxy.replace(/\/$/, ''), token: token ?? null };
}

async function startGateway(): Promise<ExampleGateway> {
  const env = { ...ownPrefix, ...process.env };
  const settings = settingsOf(env);
  const running = findGateway(settings);
  if (running !== null) return running;
  say(`no gateway runs in ${settingsOf(process.env).prefix}; starting one in ${settings.prefix} ...`);
  const argv = ['--disable-warning=ExperimentalWarning', main, 'start'];
  const started = spawn(process.execPath, argv, { stdio: 'inherit', env });
  child = started;
  started.once('exit', () => {
    if (child === started) void end(1);
  });
  for (let tries = 0; tries < 300; tries++) {
    const gateway = findGateway(settings);
    if (gateway !== null) return gateway;
    if (started.exitCode !== null) throw new Error('the gateway did not start; its last lines say why');
    await delay(100);
  }
  throw new Error('the gateway has no plain proxy and Admin API listener after 30 s');
}

function printTour({ adminUrl, proxyUrl, token }: ExampleGateway): void {
  const admin = token === null ? adminUrl : `-H "Authorization: Bearer $SLUICEGATE_ADMIN_TOKEN" ${adminUrl}`;
  say(`three backends are behind the gateway: ${backends.map(({ name, url }) => `${name} (${url})`).join(', ')}

Try:
  curl -i ${proxyUrl}/users/42
  curl -s '${proxyUrl}/orders?user=42'
  curl -s -X POST ${proxyUrl}/orders -H 'Content-Type: application/json' -d '{"user":42,"total":12.5}'
  curl -s '${proxyUrl}/items?limit=3'
  curl -s '${proxyUrl}/items?page=2&size=3'
  curl -s '${proxyUrl}/items?before=2026-01-01T00:05:00Z&limit=3'
  curl -s ${admin}/services
  curl -i -X POST ${admin}/services/users/plugins -d name=correlation-id -d config.echo_downstream=true
  curl -i ${proxyUrl}/users/42

Ctrl-C ends it.`);
}

function say(text: string): void {
  process.stdout.write(`example: ${text}\n`);
}

async function end(code: number): Promise<void> {
  const running = child;
  child = null;
  if (running !== null && running.exitCode === null) {
    const left = once(running, 'exit');
    running.kill('SIGTERM');
    await left;
  }
  await Promise.all(backends.map((backend) => backend.close()));
  process.exit(code);
}
