// A thread with a client and a backend of its own: what a test writes elsewhere does not delay them.
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';

export type BystanderOrder = { readonly connect: string } | 'begin' | 'end';

/** Milliseconds of each request since `begin`, in order. */
export interface BystanderReport {
  readonly latencies: readonly number[];
  readonly failures: readonly string[];
}

/** Requests that a report contains at least. */
const minRequests = 20;

let latencies: number[] = [];
let failures: string[] = [];

async function request(session: ReturnType<typeof connect>): Promise<void> {
  const begun = performance.now();
  const stream = session.request({ ':path': '/bystander' });
  let status = 0;
  stream.on('response', (headers) => {
    status = headers[':status'] ?? 0;
  });
  stream.on('error', () => {});
  stream.resume();
  await once(stream, 'close');
  if (status !== 200) failures.push(`status ${status}, code ${stream.rstCode}`);
  latencies.push(performance.now() - begun);
}

async function run(origin: string): Promise<void> {
  const session = connect(origin, { rejectUnauthorized: false });
  session.on('error', (error) => failures.push(String(error)));
  await once(session, 'connect');
  while (!session.destroyed) {
    await request(session);
    await wait(2);
  }
}

async function report(): Promise<void> {
  while (latencies.length < minRequests && failures.length === 0) await wait(2);
  parentPort?.postMessage({ latencies, failures } satisfies BystanderReport);
}

if (parentPort !== null && workerData === 'bystander') {
  const backend = createServer((_, response) => response.end('ok'));
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  parentPort.on('message', (order: BystanderOrder) => {
    if (order === 'begin') {
      latencies = [];
      failures = [];
    } else if (order === 'end') void report();
    else void run(order.connect);
  });
  parentPort.postMessage((backend.address() as AddressInfo).port);
}
