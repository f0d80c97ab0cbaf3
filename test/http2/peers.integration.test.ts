import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  type ClientHttp2Session,
  connect,
  createServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Random } from '../fuzz/random.ts';
import { Code } from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { type SplittingProxy, startSplittingProxy } from './splitting-proxy.ts';

/** Ordinary clients and backends of node:http2, with random valid traffic that arrives in random pieces. */
const seconds = Number(process.env['FUZZ_SECONDS'] ?? 6);
const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 30));
const random = new Random(seed);

function randomSettings(): Settings {
  return {
    initialWindowSize: random.pick([1_000, 16_384, 65_535, 500_000]),
    headerTableSize: random.pick([0, 100, 4_096, 65_536]),
    maxFrameSize: random.pick([16_384, 20_000, 1_000_000]),
    maxHeaderListSize: 65_535,
  };
}

function randomBytes(limit: number): Buffer {
  const size = random.once(4) ? 0 : random.int(random.once(3) ? limit : 2_000);
  return Buffer.alloc(size, `${random.int(1e9)},`);
}

function randomFields(): Record<string, string> {
  const fields: Record<string, string> = {};
  for (let left = random.int(12); left > 0; left--)
    fields[`x-${random.int(30)}`] = random.pick([
      '',
      'a',
      'some longer value',
      'v'.repeat(random.int(400)),
      '\xe9\xff',
    ]);
  return fields;
}

/** What the backend sends back of the fields. */
function echoed(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => /^x-\d+$/.test(name)) as readonly (readonly [string, string])[],
  );
}

function serve(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  stream.on('error', () => {});
  if (headers['x-reset'] !== undefined) {
    stream.close(Number(headers['x-reset']));
    return;
  }
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...echoed(headers) }, { waitForTrailers: true });
  stream.on('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0', 'x-tail': 'end' }));
  stream.pipe(stream);
}

interface Peers {
  readonly rig: Http2Rig;
  readonly backend: Http2Server;
  readonly front: SplittingProxy;
  readonly back: SplittingProxy;
}

async function startPeers(): Promise<Peers> {
  const backend = createServer();
  backend.on('session', (session) => {
    session.on('error', () => {});
    session.settings(randomSettings());
  });
  backend.on('stream', serve);
  backend.listen(0, '127.0.0.1');
  await once(backend, 'listening');
  const back = await startSplittingProxy(random, () => (backend.address() as AddressInfo).port);
  const rig = await startHttp2Rig({
    service: { url: null, protocol: 'grpc', host: '127.0.0.1', port: back.port },
    route: { protocols: ['grpc'] },
    settings: { upstreamKeepalive: { poolSize: 8, maxRequests: 40, idleTimeout: 60_000 } },
  });
  const front = await startSplittingProxy(random, () => rig.port);
  return { rig, backend, front, back };
}

const requestHead = { ':method': 'POST', ':path': '/a.B/C', 'content-type': 'application/grpc', te: 'trailers' };

/** One call with random fields and a random body, which must come back. */
async function call(session: ClientHttp2Session): Promise<void> {
  const fields = randomFields();
  const body = randomBytes(200_000);
  const stream = session.request({ ...requestHead, ...fields });
  stream.on('error', () => {});
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  const pieces: Buffer[] = [];
  stream.on('response', (got) => {
    headers = got;
  });
  stream.on('trailers', (got) => {
    trailers = got;
  });
  stream.on('data', (piece: Buffer) => {
    pieces.push(piece);
    if (!random.once(10)) return;
    stream.pause();
    setImmediate(() => stream.resume());
  });
  const closed = new Promise((resolve) => stream.once('close', resolve));
  for (let at = 0; at < body.byteLength; ) {
    const size = 1 + random.int(50_000);
    stream.write(body.subarray(at, at + size));
    at += size;
    if (random.once(3)) await nextTurn();
  }
  stream.end();
  await closed;
  const what = `${body.byteLength} bytes, status ${headers[':status']}, ${Buffer.concat(pieces).byteLength} came back`;
  assert.equal(stream.rstCode, Code.noError, what);
  assert.equal(headers[':status'], 200);
  assert.ok(Buffer.concat(pieces).equals(body), `${pieces.length} pieces of ${body.byteLength} bytes`);
  assert.equal(trailers['grpc-status'], '0');
  assert.equal(trailers['x-tail'], 'end');
  assert.deepEqual(echoed(headers), echoed(fields));
}

/** A call that one side gives up: the other calls do not notice. */
async function brokenCall(session: ClientHttp2Session): Promise<void> {
  const byBackend = random.once(2);
  const stream = session.request({
    ...requestHead,
    ...(byBackend ? { 'x-reset': `${random.pick([2, 7, 8, 11])}` } : {}),
  });
  stream.on('error', () => {});
  stream.resume();
  const closed = new Promise((resolve) => stream.once('close', resolve));
  stream.write(randomBytes(100_000));
  if (byBackend) stream.end();
  else {
    await nextTurn();
    stream.close(Code.cancel);
  }
  await closed;
}

describe('clients and backends of node:http2', () => {
  let peers: Peers;
  before(async () => {
    peers = await startPeers();
  });
  after(async () => {
    await peers?.rig.close();
    peers?.backend.close();
    await peers?.front[Symbol.asyncDispose]();
    await peers?.back[Symbol.asyncDispose]();
  });

  it('exchange every byte through the gateway', async (test) => {
    test.diagnostic(`SEED=${seed}`);
    const end = performance.now() + 1000 * seconds;
    let calls = 0;
    while (performance.now() < end) {
      const session = connect(`http://127.0.0.1:${peers.front.port}`, { settings: randomSettings() });
      session.on('error', () => {});
      await once(session, 'connect');
      const all: Promise<void>[] = [];
      for (let left = 10 + random.int(20); left > 0; left--) {
        all.push(random.once(6) ? brokenCall(session) : call(session));
        // Node ends a session of its own with more than ten that wait for their acknowledgement.
        if (random.once(5) && !session.pendingSettingsAck) session.settings(randomSettings());
        if (random.once(3)) await nextTurn();
      }
      calls += all.length;
      await Promise.all(all);
      session.destroy();
    }
    test.diagnostic(`${calls} calls`);
    assert.ok(calls > 0);
  });
});
