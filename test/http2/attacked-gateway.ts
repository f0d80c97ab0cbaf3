import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts';
import type { FrameClient } from '../support/http2-frames.ts';
import { openFrames, openSecureFrames } from '../support/http2-frames.ts';
import { type BackendScript, type RawBackend, startRawBackend } from '../support/raw-backend.ts';
import type { BystanderOrder, BystanderReport } from './bystander.fixture.ts';

/** What an attack cost the process of the gateway, and what another client noticed. */
export interface AttackCost {
  /** Milliseconds of CPU time of all threads, including the requests of the other client. */
  readonly cpu: number;
  /** Bytes by which the peak of the resident memory exceeded its size before. */
  readonly memory: number;
  /** Requests that reached the backend. */
  readonly requests: number;
  /** Milliseconds of the other client's requests: 99th percentile during the attack, and just before. */
  readonly p99: number;
  readonly calm: number;
  /** Requests of the other client during the attack. All of them were answered with 200. */
  readonly served: number;
}

/** A gateway as a process of its own, with a backend, and another client in a thread of its own. Linux only. */
export interface AttackedGateway extends AsyncDisposable {
  /** Of the plain listener and of the TLS listener; both speak HTTP/2. */
  readonly port: number;
  readonly tlsPort: number;
  readonly backend: RawBackend;
  readonly process: GatewayProcess;
  /** Runs an attack and measures it. Fails if a request of the other client fails or is delayed without bound. */
  measure(attack: () => Promise<void>): Promise<AttackCost>;
  /** A connection of an attacker; null for `settings`: without a preface. */
  open(secure: boolean, settings?: Uint8Array | null): Promise<FrameClient>;
  admin(method: string, path: string, body: unknown): Promise<void>;
}

/** Milliseconds that the 99th percentile may reach on a busy machine, and how many times the value before. */
const slowest = 1_000;
const timesSlower = 10;

export async function startAttackedGateway(
  script: BackendScript,
  env: Readonly<Record<string, string>> = {},
): Promise<AttackedGateway> {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-attacked-'));
  const backend = await startRawBackend(script);
  const gateway = startGatewayProcess(prefix, {
    KONG_PROXY_LISTEN: '127.0.0.1:0 http2, 127.0.0.1:0 http2 ssl',
    KONG_PROXY_ACCESS_LOG: 'off',
    // The test writes what it can, so that the gateway's event loop is late by design.
    SLUICEGATE_OVERLOAD_LAG: '0',
    // Most attacks are measured on one connection after another, all from one address.
    SLUICEGATE_HTTP2_BUDGET_PER_CLIENT: '0',
    ...env,
  });
  const bystander = new Worker(new URL('./bystander.fixture.ts', import.meta.url), { workerData: 'bystander' });
  const bystanderBackend = once(bystander, 'message') as Promise<[number]>;
  await gateway.started();
  const admin = async (method: string, path: string, body: unknown): Promise<void> => {
    const response = await fetch(gateway.url('admin') + path, {
      method,
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
    assert.ok(response.ok, `${method} ${path}: ${response.status} ${await response.text()}`);
  };
  const [bystanderPort] = await bystanderBackend;
  await admin('PUT', '/services/backend', { url: backend.url, retries: 0, read_timeout: 20_000 });
  await admin('PUT', '/services/backend/routes/all', { paths: ['/'], strip_path: false });
  await admin('PUT', '/services/bystander', { url: `http://127.0.0.1:${bystanderPort}` });
  await admin('PUT', '/services/bystander/routes/bystander', { paths: ['/bystander'] });
  const tlsPort = Number(/https:\/\/127\.0\.0\.1:(\d+)/.exec(gateway.output())?.[1]);
  const port = Number(new URL(gateway.url('proxy')).port);
  order(bystander, { connect: `http://127.0.0.1:${port}` });
  return {
    port,
    tlsPort,
    backend,
    process: gateway,
    admin,
    async open(secure, settings) {
      const client = await (secure ? openSecureFrames(tlsPort, settings) : openFrames(port, settings));
      // Its acknowledgement must not get between the frames of a test.
      if (settings !== null) await client.until(() => client.settings > 0 || client.closed);
      return client;
    },
    measure: (attack) => measure(gateway, bystander, backend, attack),
    async [Symbol.asyncDispose]() {
      await bystander.terminate();
      await gateway[Symbol.asyncDispose]();
      await backend.close();
      await rm(prefix, { recursive: true, force: true });
    },
  };
}

async function measure(
  gateway: GatewayProcess,
  bystander: Worker,
  backend: RawBackend,
  attack: () => Promise<void>,
): Promise<AttackCost> {
  const calm = await observe(bystander, async () => {});
  const pid = gateway.child.pid ?? 0;
  const before = { cpu: cpuTime(pid), memory: memoryOf(pid, 'VmRSS'), requests: backend.requests.length };
  // Peaks are counted from here (proc(5)).
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
  const during = await observe(bystander, attack);
  const bound = Math.max(slowest, timesSlower * calm.p99);
  assert.ok(during.p99 <= bound, `99 % of the other client's requests took up to ${during.p99} ms, before ${calm.p99}`);
  return {
    cpu: cpuTime(pid) - before.cpu,
    memory: memoryOf(pid, 'VmHWM') - before.memory,
    requests: backend.requests.length - before.requests,
    p99: during.p99,
    calm: calm.p99,
    served: during.served,
  };
}

async function observe(
  bystander: Worker,
  action: () => Promise<void>,
): Promise<{ readonly p99: number; readonly served: number }> {
  order(bystander, 'begin');
  await action();
  order(bystander, 'end');
  const [{ latencies, failures }] = (await once(bystander, 'message')) as [BystanderReport];
  assert.deepEqual(failures, [], 'requests of the other client failed');
  const sorted = latencies.toSorted((a, b) => a - b);
  return { p99: sorted[Math.ceil(sorted.length * 0.99) - 1] ?? 0, served: sorted.length };
}

function order(bystander: Worker, what: BystanderOrder): void {
  bystander.postMessage(what);
}

/** Milliseconds of CPU time of a process. Linux counts in units of 10 ms. */
function cpuTime(pid: number): number {
  const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function memoryOf(pid: number, name: 'VmRSS' | 'VmHWM'): number {
  const found = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(found?.[1]) * 1024;
}

/** Writes the same bytes again and again, as fast as the gateway reads, until the connection ends. */
export async function writeMany(client: FrameClient, bytes: Uint8Array, times: number): Promise<void> {
  const batch = Math.max(1, Math.min(times, Math.floor(65_536 / bytes.byteLength)));
  const many = Buffer.concat(Array.from({ length: batch }, () => bytes));
  for (let left = times; left > 0 && !client.closed; left -= batch) await writeAll(client, many);
}

/** Writes and waits until the kernel has accepted it, or the connection ends. */
export async function writeAll(client: FrameClient, bytes: Uint8Array): Promise<void> {
  const { socket } = client;
  if (client.closed || socket.write(bytes)) return;
  const done = Promise.withResolvers<void>();
  const finish = (): void => done.resolve();
  socket.once('drain', finish);
  socket.once('close', finish);
  await done.promise;
  socket.off('drain', finish);
  socket.off('close', finish);
}

/** The figures of an attack, for the output of a test. */
export function describeCost({ cpu, memory, requests, p99, served }: AttackCost): string {
  const megabytes = (memory / 1_048_576).toFixed(1);
  return `${cpu} ms of CPU, ${megabytes} MB, ${requests} requests; other client: ${served} requests, p99 ${p99.toFixed(1)} ms`;
}
