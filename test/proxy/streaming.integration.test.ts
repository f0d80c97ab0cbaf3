import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

const megabyte = 1024 * 1024;

/** A backend that sends and receives bodies without storing them. */
async function startStreamBackend(): Promise<{ readonly url: string; readonly seen: Seen; close(): void }> {
  const seen: Seen = { received: 0, aborted: 0, sent: 0 };
  const server = createServer((incoming, outgoing) => answer(incoming, outgoing, seen));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    seen,
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

interface Seen {
  received: number;
  sent: number;
  aborted: number;
}

function answer(incoming: IncomingMessage, outgoing: ServerResponse, seen: Seen): void {
  incoming.on('error', () => {});
  outgoing.on('close', () => {
    if (!outgoing.writableFinished) seen.aborted++;
  });
  const url = new URL(incoming.url ?? '/', 'http://backend');
  if (url.pathname === '/events') sendEvents(outgoing);
  else if (url.pathname === '/download') sendBytes(outgoing, Number(url.searchParams.get('mb')) * megabyte, seen);
  else if (url.pathname === '/hold') outgoing.flushHeaders();
  else if (url.pathname === '/slow-upload') setTimeout(() => count(incoming, outgoing, seen), 1_000);
  else count(incoming, outgoing, seen);
}

function count(incoming: IncomingMessage, outgoing: ServerResponse, seen: Seen): void {
  incoming.on('data', (chunk: Buffer) => {
    seen.received += chunk.length;
  });
  incoming.on('end', () => outgoing.end(String(seen.received)));
}

function sendEvents(outgoing: ServerResponse): void {
  outgoing.writeHead(200, { 'Content-Type': 'text/event-stream' });
  let number = 0;
  const timer = setInterval(() => outgoing.write(`data: ${++number} ${performance.now()}\n\n`), 50);
  outgoing.on('close', () => clearInterval(timer));
}

function sendBytes(outgoing: ServerResponse, total: number, seen: Seen): void {
  const block = Buffer.alloc(64 * 1024, 'x');
  let left = total;
  const more = (): void => {
    while (left > 0) {
      left -= block.length;
      seen.sent += block.length;
      if (!outgoing.write(block)) return;
    }
    outgoing.end();
  };
  outgoing.on('drain', more);
  more();
}

describe('streams through the gateway', () => {
  let gateway: TestGateway;
  let backend: Awaited<ReturnType<typeof startStreamBackend>>;
  before(async () => {
    backend = await startStreamBackend();
    gateway = await startTestGateway();
    await gateway.admin('PUT', '/services/stream', { url: backend.url });
    await gateway.admin('PUT', '/services/stream/routes/all', { paths: ['/'], strip_path: false });
  });
  after(async () => {
    await gateway.stop();
    backend.close();
  });

  async function open(path: string): Promise<IncomingMessage> {
    const outgoing = get(gateway.proxyUrl + path, { agent: false });
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    incoming.on('error', () => {});
    return incoming;
  }

  it('deliver events when they are sent', async () => {
    const incoming = await open('/events');
    assert.equal(incoming.headers['content-type'], 'text/event-stream');
    const delays: number[] = [];
    for await (const chunk of incoming) {
      // Backend and client are one process here, so their clocks are one.
      for (const [, sent] of String(chunk).matchAll(/data: \d+ ([\d.]+)/g))
        delays.push(performance.now() - Number(sent));
      if (delays.length >= 10) break;
    }
    // If events were buffered, all but the last would be late; on a busy machine single ones are.
    const median = delays.toSorted((a, b) => a - b)[Math.floor(delays.length / 2)] as number;
    assert.ok(median < 40, `late by ${delays.map((late) => late.toFixed(1)).join(', ')} ms`);
  });

  it('deliver the head of an answer before its body', async () => {
    const incoming = await open('/hold');
    assert.equal(incoming.statusCode, 200);
    incoming.destroy();
  });

  it('forward a download of 600 MB completely without buffering it', async () => {
    const before = process.memoryUsage.rss();
    let peak = 0;
    let received = 0;
    const incoming = await open('/download?mb=600');
    for await (const chunk of incoming) {
      received += (chunk as Buffer).length;
      peak = Math.max(peak, process.memoryUsage.rss());
    }
    assert.equal(received, 600 * megabyte);
    // Backend and client run in this process too, and their garbage counts as well.
    assert.ok(peak - before < 300 * megabyte, `grew by ${((peak - before) / megabyte).toFixed(0)} MB`);
  });

  it('stop the backend when the client does not read', async () => {
    backend.seen.sent = 0;
    const incoming = await open('/download?mb=300');
    await delay(500);
    const stalled = backend.seen.sent;
    await delay(300);
    assert.equal(backend.seen.sent, stalled);
    assert.ok(stalled < 40 * megabyte, `${stalled / megabyte} MB were taken from the backend`);
    incoming.destroy();
  });

  for (const framing of ['declared', 'chunked'] as const) {
    it(`forward an upload of 200 MB completely without buffering it (${framing})`, async () => {
      backend.seen.received = 0;
      const before = process.memoryUsage.rss();
      const answer = await upload('/upload', 200 * megabyte, framing === 'declared');
      assert.equal(answer, String(200 * megabyte));
      const grown = process.memoryUsage.rss() - before;
      assert.ok(grown < 150 * megabyte, `grew by ${(grown / megabyte).toFixed(0)} MB`);
    });
  }

  it('stop the client when the backend does not read', async () => {
    const outgoing = request(`${gateway.proxyUrl}/slow-upload`, { method: 'POST', agent: false });
    outgoing.on('error', () => {});
    const block = Buffer.alloc(megabyte);
    let accepted = 0;
    const stopAt = performance.now() + 600;
    while (performance.now() < stopAt) {
      if (outgoing.write(block)) accepted++;
      else {
        const drained = await Promise.race([once(outgoing, 'drain').then(() => true), delay(300).then(() => false)]);
        if (!drained) break;
        accepted++;
      }
    }
    outgoing.destroy();
    assert.ok(accepted < 40, `${accepted} MB were taken from the client`);
  });

  it('abort at the backend when the client aborts', async () => {
    const aborted = backend.seen.aborted;
    const incoming = await open('/hold');
    incoming.destroy();
    for (let tries = 0; tries < 200 && backend.seen.aborted === aborted; tries++) await delay(10);
    assert.ok(backend.seen.aborted > aborted);
  });

  async function upload(path: string, size: number, declared: boolean): Promise<string> {
    const outgoing = request(gateway.proxyUrl + path, {
      method: 'POST',
      agent: false,
      headers: declared ? { 'Content-Length': size } : {},
    });
    const block = Buffer.alloc(64 * 1024, 'y');
    for (let left = size; left > 0; left -= block.length) {
      if (!outgoing.write(block)) await once(outgoing, 'drain');
    }
    outgoing.end();
    const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
    let text = '';
    for await (const chunk of incoming) text += String(chunk);
    return text;
  }
});
