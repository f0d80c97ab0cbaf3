import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { BenchContext, Scenario } from '../../support/context.ts';
import { type Figure, figure, percentile } from '../../support/figures/figures.ts';
import { type GatewaySubject, gatewayMain, startGateway } from '../../support/gateway/gateway.ts';
import { memoryOf } from '../../support/machine/process-figures.ts';
import { BenchError } from '../../support/machine/tools.ts';

const scenario = 'whole config';
const services = Number(process.env['BENCH_SERVICES'] ?? 50_000);
/** Services that the second document changes; with a route each. */
const changed = 5_000;
const megabyte = 2 ** 20;

/** A document of 100,000 entities: applied, compared, changed, rolled back, and loaded at start. */
export const wholeConfig: Scenario = {
  name: 'whole-config',
  async run(context: BenchContext): Promise<readonly Figure[]> {
    const first = documentFile(context, 'first.yaml', 0);
    const second = documentFile(context, 'second.yaml', 1);
    const gateway = await startGateway({ folder: context.folder, workers: 1 });
    let applied: Timed & { readonly latencies: readonly number[] };
    let compared: Timed;
    let reapplied: Timed & { readonly latencies: readonly number[] };
    let edit = 0;
    let rollback = 0;
    let memory = 0;
    try {
      await config(gateway, ['apply', documentFile(context, 'base.yaml', 0, 0)]);
      applied = await underProbe(gateway, () => config(gateway, ['apply', first]));
      memory = memoryOf(gateway.pids()).resident / megabyte;
      compared = await config(gateway, ['diff', second], 2);
      reapplied = await underProbe(gateway, () => config(gateway, ['apply', second]));
      edit = await timed(() => write(gateway, 'PATCH', '/services/service-1', { retries: 3 }));
      rollback = await timed(() => write(gateway, 'POST', `/config/versions/${applied.version}/rollback`));
      context.say(`memory after the apply ${memory.toFixed(0)} MB`);
    } finally {
      await gateway.stop();
    }
    const begun = performance.now();
    const again = await startGateway({ folder: context.folder, workers: 1, prefix: gateway.prefix });
    const start = performance.now() - begun;
    await delay(3_000);
    const resting = memoryOf(again.pids()).resident / megabyte;
    await again.stop();
    const size = `${((2 * services) / 1000).toFixed(0)},000 entities`;
    return [
      figure({ scenario, what: `config apply of ${size}`, unit: 's', gateway: applied.time / 1000, max: 60 }),
      figure({ scenario, what: `config diff with ${size}`, unit: 's', gateway: compared.time / 1000, max: 10 }),
      figure({ scenario, what: 'config apply that changes 10,000 of them', unit: 's', gateway: reapplied.time / 1000 }),
      figure({ scenario, what: `rollback of 10,000 entities`, unit: 's', gateway: rollback / 1000, max: 1 }),
      figure({ scenario, what: 'one edit afterwards', unit: 'ms', gateway: edit, max: 100 }),
      figure({ scenario, what: `start with ${size}`, unit: 's', gateway: start / 1000, max: 10 }),
      figure({ scenario, what: 'memory after the apply', unit: 'MB', gateway: memory, max: 1024 }),
      figure({ scenario, what: 'memory after a start', unit: 'MB', gateway: resting, max: 1024 }),
      figure({
        scenario,
        what: 'p99 of requests during the apply',
        unit: 'ms',
        gateway: percentile(applied.latencies, 99),
      }),
      figure({
        scenario,
        what: 'longest request during the apply',
        unit: 'ms',
        gateway: Math.max(...applied.latencies),
      }),
      figure({
        scenario,
        what: 'p99 of requests while 10,000 entities change',
        unit: 'ms',
        gateway: percentile(reapplied.latencies, 99),
      }),
      figure({
        scenario,
        what: 'longest request while 10,000 entities change',
        unit: 'ms',
        gateway: Math.max(...reapplied.latencies),
      }),
    ];
  },
};

function documentFile(context: BenchContext, name: string, generation: number, count = services): string {
  const lines = ['_format_version: "3.0"', 'services:'];
  lines.push('- name: probe', `  url: ${context.backend.url}`, '  routes:', '  - name: probe', '    paths: [/probe]');
  for (let i = 0; i < count; i++) {
    const retries = generation > 0 && i < changed ? 5 + generation : 5;
    lines.push(
      `- name: service-${i}`,
      `  url: http://10.0.${Math.floor(i / 250) % 250}.${i % 250}:8080/v${i % 7}`,
      `  retries: ${retries}`,
      `  tags: [team-${i % 50}]`,
      '  routes:',
      `  - name: route-${i}`,
      `    paths: [/team-${i % 97}/service-${i}]`,
      `    hosts: [host-${i % 500}.example.com]`,
      `    regex_priority: ${retries - 5}`,
    );
  }
  const file = join(context.folder, name);
  writeFileSync(file, `${lines.join('\n')}\n`);
  return file;
}

interface Timed {
  /** Milliseconds. */
  readonly time: number;
  /** The version that the command printed. */
  readonly version: number | null;
}

async function config(gateway: GatewaySubject, words: readonly string[], expected = 0): Promise<Timed> {
  const begun = performance.now();
  const child = spawn(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', gatewayMain(), 'config', ...words, '--admin', gateway.adminUrl],
    { stdio: ['ignore', 'pipe', 'inherit'], env: { PATH: process.env['PATH'] } },
  );
  let tail = '';
  child.stdout.on('data', (bytes: Buffer) => {
    tail = (tail + bytes.toString()).slice(-200);
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  if (code !== expected) throw new BenchError(`config ${words[0]} ended with ${code}`);
  const version = /^version (\d+)$/m.exec(tail)?.[1];
  return { time: performance.now() - begun, version: version === undefined ? null : Number(version) };
}

async function timed(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return performance.now() - begun;
}

async function write(gateway: GatewaySubject, method: string, path: string, body?: object): Promise<void> {
  const response = await fetch(gateway.adminUrl + path, {
    method,
    ...(body !== undefined && { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new BenchError(`${method} ${path}: ${response.status} ${text.slice(0, 200)}`);
}

/** Sends a request every 2 ms at most while `work` runs; each begins when the one before it has ended. */
async function underProbe<T>(
  gateway: GatewaySubject,
  work: () => Promise<T>,
): Promise<T & { readonly latencies: readonly number[] }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const latencies: number[] = [];
  let going = true;
  const probing = (async () => {
    while (going) {
      const begun = performance.now();
      const status = await statusOf(`${gateway.url}/probe`, agent);
      if (status !== 200) throw new BenchError(`a request was answered with ${status} while the config changed`);
      latencies.push(performance.now() - begun);
      await delay(2);
    }
  })();
  const stop = async (): Promise<void> => {
    going = false;
    await probing;
    agent.destroy();
  };
  try {
    const result = await Promise.race([work(), probing.then(() => Promise.reject(new BenchError('no requests')))]);
    return { ...result, latencies };
  } finally {
    await stop();
  }
}

function statusOf(url: string, agent: Agent): Promise<number> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (incoming) => {
      incoming.resume();
      incoming.on('end', () => resolve(incoming.statusCode ?? 0));
      incoming.on('error', reject);
    }).on('error', reject);
  });
}
