import assert from 'node:assert/strict';
import { it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { openHttp2 } from '../support/http2-client.ts';
import {
  encodeFields,
  type Fields,
  Flag,
  Frame,
  frame,
  openFrames,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, answerEach } from '../support/raw-backend.ts';
import { until } from '../support/until.ts';
import { Random } from './random.ts';

/**
 * Case 16: sessions of near-valid frames in random order. `node --test test/fuzz/http2-sessions.ts`. Run several in parallel
 * to find more: failures depend on timing as well as on the seed.
 */
const sessions = 400;

const answers: readonly string[] = [
  answer('ok'),
  answer('x'.repeat(100_000)),
  'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: a\r\n\r\n3\r\nabc\r\n0\r\na: b\r\n\r\n',
  `HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n${answer('ok')}`,
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nabc',
  'HTTP/1.1 304 Not Modified\r\n\r\n',
  'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc',
];

it('random frames affect no other client and leak nothing', async (context) => {
  const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000);
  context.diagnostic(`FUZZ_SEED=${seed}`);
  const random = new Random(seed);
  await using rig = await startHttp2Rig({
    settings: { clientBodyTimeout: 400, sendTimeout: 400, keepaliveTimeout: 400 },
    service: { read_timeout: 400 },
    script: answerEach(() => random.pick(answers)),
  });
  for (let count = 0; count < sessions; count += 8) {
    await Promise.all(Array.from({ length: 8 }, () => randomSession(rig.port, random)));
  }
  await using client = await openHttp2(rig.port);
  assert.equal((await client.request('/after')).status > 0, true);
  await client.close();
  await until(async () => (await connections(rig)) === 0, 20_000);
});

async function connections(rig: Http2Rig): Promise<number> {
  const { body } = await rig.gateway.admin('GET', '/status');
  return (body['server'] as { connections_active: number }).connections_active;
}

async function randomSession(port: number, random: Random): Promise<void> {
  using client = await openFrames(port, random.once(4) ? settingsPayload([4, random.int(3000)]) : new Uint8Array(0));
  let next = 1;
  for (let left = 1 + random.int(30); left > 0 && !client.closed; left--) {
    if (random.once(3)) {
      client.write(randomHead(random, next));
      next += 2;
    } else if (random.once(8)) await wait(random.int(4));
    else client.write(randomFrame(random, random.once(5) ? random.int(20) : Math.max(1, next - 2 * random.int(4))));
  }
  if (random.once(2)) await wait(random.int(50));
  if (random.once(2)) client.socket.resetAndDestroy();
}

function randomHead(random: Random, stream: number): Buffer {
  const method = random.pick(['GET', 'GET', 'HEAD', 'POST', 'CONNECT']);
  const fields: (readonly [string, string])[] = [[':method', method]];
  if (method === 'CONNECT') fields.push([':protocol', 'websocket']);
  fields.push([':scheme', 'http'], [':authority', 'a'], [':path', '/random']);
  const extra: Fields = [
    ['te', 'trailers'],
    ['expect', '100-continue'],
    ['content-length', `${random.int(9)}`],
    ['host', 'b'],
  ];
  if (random.once(2)) fields.push(random.pick(extra));
  const flags = (random.once(2) ? Flag.endStream : 0) | (random.once(12) ? 0 : Flag.endHeaders);
  return frame(Frame.headers, flags, stream, encodeFields(fields));
}

const makers: readonly ((random: Random, stream: number) => Buffer)[] = [
  (random, stream) =>
    frame(Frame.data, random.int(2), stream, Buffer.alloc(random.once(3) ? random.int(16_000) : random.int(20))),
  (random, stream) => frame(Frame.rstStream, 0, stream, uint32(random.int(14))),
  (random, stream) =>
    frame(Frame.windowUpdate, 0, random.once(2) ? 0 : stream, uint32(random.once(4) ? 0x7fffffff : random.int(70_000))),
  (random) =>
    frame(Frame.settings, random.once(4) ? Flag.ack : 0, 0, settingsPayload([1 + random.int(9), random.int(70_000)])),
  (random) => frame(Frame.ping, random.int(2), 0, '12345678'),
  (random, stream) => frame(Frame.headers, 5, stream, encodeFields([[random.pick(['x', ':path', 'connection']), 'v']])),
  (random) => frame(Frame.goaway, 0, 0, Buffer.concat([uint32(0), uint32(random.int(3))])),
  (random) => frame(random.int(256), random.int(256), random.int(10), Buffer.alloc(random.int(40), random.byte())),
];

function randomFrame(random: Random, stream: number): Buffer {
  return random.pick(makers)(random, stream);
}
