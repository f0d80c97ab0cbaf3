import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { after, before, test } from 'node:test';
import zlib from 'node:zlib';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

const list = JSON.stringify(Array.from({ length: 3000 }, (_, id) => ({ id, name: `User ${id % 97}` })));
const megabytes = 48;

let rig: Rig;
/** Event streams that are open, and how to write to the last one. */
let streams = 0;
let sendEvent: (text: string) => void = () => {};
/** For `/flood`: bytes that the backend could write. */
let written = 0;
let floodClosed = false;
let breakOff = (): void => {};

const backend = createServer((incoming, outgoing) => {
  const { pathname } = new URL(incoming.url ?? '/', 'http://backend');
  const parts = pages[pathname];
  if (parts !== undefined) parts(outgoing, incoming.headers);
  else outgoing.writeHead(404).end();
});

const pages: Readonly<Record<string, (outgoing: ServerResponse, headers: IncomingHttpHeaders) => void>> = {
  '/list'(outgoing) {
    const headers = { 'Content-Type': 'application/json', ETag: '"v1"', 'Content-Length': list.length };
    outgoing.writeHead(200, headers).end(list);
  },
  '/events'(outgoing) {
    outgoing.writeHead(200, { 'Content-Type': 'text/event-stream' });
    outgoing.flushHeaders();
    streams++;
    sendEvent = (text) => void outgoing.write(`data: ${text}\n\n`);
  },
  '/flood'(outgoing) {
    written = 0;
    floodClosed = false;
    outgoing.on('close', () => {
      floodClosed = true;
    });
    outgoing.writeHead(200, { 'Content-Type': 'text/plain' });
    const size = 1_048_576;
    const more = (): void => {
      while (written < megabytes * size) {
        written += size;
        if (!outgoing.write(randomBytes(size))) {
          outgoing.once('drain', more);
          return;
        }
      }
      outgoing.end();
    };
    more();
  },
  '/broken'(outgoing) {
    outgoing.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': '100000' });
    outgoing.write('x'.repeat(50_000));
    breakOff = () => void outgoing.destroy();
  },
  '/small': (outgoing) => outgoing.writeHead(200, { 'Content-Type': 'text/plain', 'Content-Length': 5 }).end('small'),
  '/echo'(outgoing, headers) {
    const pieces: Buffer[] = [];
    outgoing.req
      .on('data', (piece: Buffer) => pieces.push(piece))
      .on('end', () => {
        outgoing.writeHead(200).end(`${headers['content-encoding']} ${Buffer.concat(pieces).toString('latin1')}`);
      });
  },
};

before(async () => {
  await new Promise<void>((resolve) => backend.listen(0, '127.0.0.1', resolve));
  const { port } = backend.address() as AddressInfo;
  rig = await startRig({ settings: { plugins: ['compression', 'request-termination'], workers: 1 } });
  await rig.write('PATCH', '/services/backend', { host: '127.0.0.1', port });
  await rig.write('POST', '/services/backend/plugins', { name: 'compression' });
});
after(async () => {
  await rig.close();
  backend.closeAllConnections();
  backend.close();
});

interface Raw {
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly complete: boolean;
}

async function ask(path: string, encoding: string, method = 'GET'): Promise<Raw> {
  const outgoing = request({ port: rig.port, path, method, headers: { 'accept-encoding': encoding }, agent: false });
  outgoing.end();
  const [incoming] = (await once(outgoing, 'response')) as [IncomingMessage];
  // `complete` reports it.
  outgoing.on('error', () => {});
  const pieces: Buffer[] = [];
  incoming.on('data', (piece: Buffer) => pieces.push(piece)).on('error', () => {});
  if (path === '/broken') breakOff();
  if (!incoming.closed) await new Promise((resolve) => incoming.on('close', resolve));
  return { headers: incoming.headers, body: Buffer.concat(pieces), complete: incoming.complete };
}

test('serves each coding, and HEAD has the same head as GET', async () => {
  const decoders = { gzip: zlib.gunzipSync, br: zlib.brotliDecompressSync, zstd: zlib.zstdDecompressSync };
  for (const [coding, decode] of Object.entries(decoders)) {
    const { headers, body } = await ask('/list', coding);
    assert.equal(headers['content-encoding'], coding);
    assert.equal(headers['content-length'], undefined);
    assert.equal(headers.etag, 'W/"v1"');
    assert.equal(decode(body).toString(), list);
    const head = await ask('/list', coding, 'HEAD');
    assert.equal(head.headers['content-encoding'], coding);
    assert.equal(head.headers['content-length'], undefined);
    assert.equal(head.headers.etag, 'W/"v1"');
    assert.equal(head.headers.vary, headers.vary);
  }
  const { headers, body } = await ask('/list', 'identity');
  assert.equal(headers['content-length'], String(list.length));
  assert.equal(headers['vary'], 'Accept-Encoding');
  assert.equal(body.toString(), list);
});

test('sends each event at once', async () => {
  const decoders: Readonly<Record<string, () => Duplex>> = {
    gzip: () => zlib.createGunzip(),
    br: () => zlib.createBrotliDecompress(),
    zstd: () => zlib.createZstdDecompress(),
  };
  for (const [coding, decoder] of Object.entries(decoders)) {
    const before = streams;
    const stream = decoder();
    let text = '';
    stream.on('data', (piece: Buffer) => {
      text += piece.toString();
    });
    const outgoing = request(
      { port: rig.port, path: '/events', headers: { 'accept-encoding': coding }, agent: false },
      (incoming) => {
        assert.equal(incoming.headers['content-encoding'], coding);
        incoming.on('error', () => {}).pipe(stream);
      },
    );
    outgoing.on('error', () => {}).end();
    await until(() => streams > before);
    for (const event of ['one', 'two', 'three']) {
      sendEvent(event);
      await until(() => text.endsWith(`data: ${event}\n\n`));
    }
    outgoing.destroy();
  }
});

test('stops the backend when the client does not read, and cancels it when the client disconnects', async () => {
  const outgoing = request({ port: rig.port, path: '/flood', headers: { 'accept-encoding': 'zstd' }, agent: false });
  const incoming = await new Promise<IncomingMessage>((resolve) => {
    outgoing
      .on('error', () => {})
      .on('response', resolve)
      .end();
  });
  incoming.on('error', () => {}).pause();
  let before = -1;
  // Nothing more is written although more is available.
  await until(() => {
    const still = written === before;
    before = written;
    return still && written > 0;
  }, 300);
  assert.ok(written < megabytes * 1_048_576, `${written} bytes were taken`);
  outgoing.destroy();
  await until(() => floodClosed);
});

test('does not make an aborted transfer look complete', async () => {
  const { headers, complete } = await ask('/broken', 'gzip');
  assert.equal(headers['content-encoding'], 'gzip');
  assert.equal(complete, false);
});

test('compresses a large reply of a plugin', async () => {
  await rig.write('PUT', '/services/backend/routes/whole', { paths: ['/whole'] });
  const text = Array.from({ length: 60_000 }, (_, at) => `line ${at}`).join(' ');
  await rig.write('POST', '/routes/whole/plugins', {
    name: 'request-termination',
    config: { status_code: 200, content_type: 'text/plain', body: text },
  });
  const { headers, body, complete } = await ask('/whole', 'gzip');
  assert.deepEqual([headers['content-encoding'], headers['content-length'], complete], ['gzip', undefined, true]);
  assert.equal(zlib.gunzipSync(body).toString(), text);
});

test('leaves small answers uncompressed unless the client accepts only compressed ones', async () => {
  assert.equal((await ask('/small', 'gzip')).headers['content-encoding'], undefined);
  assert.equal((await ask('/small', 'gzip')).headers['content-length'], '5');
  assert.equal((await ask('/small', 'gzip')).headers.vary, 'Accept-Encoding');
  assert.equal((await ask('/small', 'gzip, identity;q=0')).headers['content-encoding'], 'gzip');
});

test('forwards request bodies unchanged, or decompressed if configured', async () => {
  const url = `${rig.gateway.proxyUrl}/echo`;
  const send = async (body: Uint8Array, coding: string): Promise<{ status: number; text: string }> => {
    const answer = await fetch(url, {
      method: 'POST',
      headers: { 'content-encoding': coding },
      body: Buffer.from(body),
    });
    return { status: answer.status, text: await answer.text() };
  };
  const coded = zlib.gzipSync('hello');
  assert.equal((await send(coded, 'gzip')).text, `gzip ${coded.toString('latin1')}`);
  await rig.write('PUT', '/routes/all/plugins/5f6b8c1e-0000-4000-8000-000000000001', {
    name: 'compression',
    config: { decompress_requests: true, max_request_bytes: 1000 },
  });
  assert.equal((await send(coded, 'gzip')).text, 'undefined hello');
  assert.equal((await send(coded, 'snappy')).status, 415);
  assert.equal((await send(coded.subarray(0, 12), 'gzip')).status, 400);
  assert.equal((await send(zlib.gzipSync(Buffer.alloc(1001)), 'gzip')).status, 413);
});
