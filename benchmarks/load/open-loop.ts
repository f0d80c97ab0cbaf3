// Requests at a constant rate that does not depend on the answers. A request is due at its time: if no connection is free it
// waits for one, and its latency counts from when it was due, so a server that stops for a moment does not hide the requests that
// clients would have sent meanwhile. Arguments: host, port, path, requests per second, seconds, connections. Prints one line.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

const [host = '', port = '', path = '', ...numbers] = process.argv.slice(2);
const [rate = 0, seconds = 0, connections = 0] = numbers.map(Number);

/** Milliseconds that this process sleeps between two looks at its sockets and at what is due: its part of each latency. */
const nap = 0.05;
/** Milliseconds after the last request was due until the answers must be there. */
const patience = 10_000;

const message = Buffer.from(`GET ${path} HTTP/1.1\r\nHost: ${host}:${port}\r\n\r\n`);
const total = Math.floor(rate * seconds);
const latencies = new Float64Array(total);
const sleeper = new Int32Array(new SharedArrayBuffer(4));

interface Client {
  readonly socket: Socket;
  /** When the request under way was due; NaN: none is. */
  due: number;
  /** Bytes of its answer that are still to come; -1: its head has not arrived. */
  missing: number;
  head: string;
}

const free: Client[] = [];
/** When each request was due that waits for a connection, first come first served. */
const waiting: number[] = [];
let sent = 0;
let answered = 0;
let failed = 0;

async function open(): Promise<Client> {
  const client: Client = {
    socket: connect({ host, port: Number(port), noDelay: true }),
    due: Number.NaN,
    missing: -1,
    head: '',
  };
  await once(client.socket, 'connect');
  client.socket.on('data', (piece: Buffer) => receive(client, piece));
  client.socket.on('error', () => {});
  client.socket.on('close', () => {
    if (!Number.isNaN(client.due)) finish(client, false);
  });
  return client;
}

function send(client: Client, due: number): void {
  client.due = due;
  client.missing = -1;
  client.head = '';
  client.socket.write(message);
}

function receive(client: Client, piece: Buffer): void {
  if (client.missing >= 0) {
    client.missing -= piece.byteLength;
  } else {
    client.head += piece.toString('latin1');
    const end = client.head.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = /\r\ncontent-length: *(\d+)/i.exec(client.head.slice(0, end + 2))?.[1];
    if (length === undefined) throw new Error(`an answer without a length: ${client.head.slice(0, end)}`);
    client.missing = Number(length) - (client.head.length - end - 4);
  }
  if (client.missing <= 0) finish(client, client.head.startsWith('HTTP/1.1 200'));
}

function finish(client: Client, fine: boolean): void {
  latencies[answered++] = performance.now() - client.due;
  client.due = Number.NaN;
  if (!fine) failed++;
  if (client.socket.destroyed) return;
  const next = waiting.shift();
  if (next === undefined) free.push(client);
  else send(client, next);
}

free.push(...(await Promise.all(Array.from({ length: connections }, open))));
const begun = performance.now();
const end = begun + seconds * 1000 + patience;
while (answered < total && performance.now() < end) {
  const now = performance.now();
  for (; sent < total; sent++) {
    const due = begun + (sent * 1000) / rate;
    if (due > now) break;
    const client = free.shift();
    if (client === undefined) waiting.push(due);
    else send(client, due);
  }
  Atomics.wait(sleeper, 0, 0, nap);
  // The event loop looks at the sockets once.
  await new Promise((resolve) => setImmediate(resolve));
}
const sorted = latencies.slice(0, answered).sort();
const percentile = (percent: number): number => sorted[Math.max(0, Math.ceil((percent / 100) * answered) - 1)] ?? 0;
process.stdout.write(
  `${JSON.stringify({
    requests: total,
    failed: failed + total - answered,
    p50: percentile(50),
    p99: percentile(99),
    p999: percentile(99.9),
    max: sorted.at(-1) ?? 0,
  })}\n`,
);
process.exit(0);
