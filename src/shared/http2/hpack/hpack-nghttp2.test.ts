import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientSessionOptions, connect, sensitiveHeaders } from 'node:http2';
import { type Duplex, duplexPair } from 'node:stream';
import { describe, it } from 'node:test';
import { Random } from '../../../../test/fuzz/random.ts';
import { Flag, Frame, frame, preface, settingsPayload } from '../../../../test/support/http2-frames.ts';
import { BlockBuffer } from './block-buffer.ts';
import { HeaderList } from './header-list.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import { HpackEncoder } from './hpack-encoder.ts';

const headerTableSize = 1;
const rounds = Number(process.env['HPACK_ROUNDS'] ?? 400);

/** Fields in lines, as both sides should see them. */
type Lines = readonly string[];

/** A server of HEADERS frames alone: it decodes requests, and encodes responses. */
class HeadServer {
  readonly #socket: Duplex;
  readonly #encoder = new HpackEncoder();
  readonly #decoder: HpackDecoder;
  readonly #buffer = new BlockBuffer();
  readonly #list = new HeaderList();
  #rest: Buffer = Buffer.alloc(0);
  #begun = false;
  /** What to answer the next request with. */
  status = 200;
  block = '';
  /** The last request. */
  request: Lines = [];

  constructor(socket: Duplex, maxTableSize: number) {
    this.#socket = socket;
    this.#decoder = new HpackDecoder(maxTableSize);
    socket.write(frame(Frame.settings, 0, 0, settingsPayload([headerTableSize, maxTableSize])));
    socket.on('data', (piece: Buffer) => this.#read(piece));
  }

  #read(piece: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, piece]);
    if (!this.#begun) {
      if (this.#rest.length < preface.length) return;
      this.#rest = this.#rest.subarray(preface.length);
      this.#begun = true;
    }
    while (this.#rest.length >= 9 && this.#rest.length >= 9 + this.#rest.readUIntBE(0, 3)) {
      const end = 9 + this.#rest.readUIntBE(0, 3);
      const [type, flags] = this.#rest.subarray(3, 5) as unknown as [number, number];
      this.#take(type, flags, this.#rest.readUInt32BE(5), this.#rest.subarray(9, end));
      this.#rest = this.#rest.subarray(end);
    }
  }

  #take(type: number, flags: number, stream: number, payload: Buffer): void {
    if (type === Frame.settings && (flags & Flag.ack) === 0) {
      for (let at = 0; at < payload.length; at += 6)
        if (payload.readUInt16BE(at) === headerTableSize) this.#encoder.setMaxTableSize(payload.readUInt32BE(at + 2));
      this.#socket.write(frame(Frame.settings, Flag.ack, 0));
    } else if (type === Frame.headers) {
      assert.equal(flags, Flag.endHeaders | Flag.endStream, 'a request in one frame, without priority');
      this.#list.begin(100_000, 1000);
      assert.equal(this.#decoder.decode(payload, 0, payload.length, this.#list), true, payload.toString('hex'));
      assert.equal(this.#list.valid, true);
      this.request = this.#list.fields.map(({ name, value }) => `${name}: ${value}`);
      this.#buffer.length = 0;
      this.#encoder.response(this.#buffer, this.status, this.block, -1);
      const block = this.#buffer.bytes.subarray(0, this.#buffer.length);
      this.#socket.write(frame(Frame.headers, Flag.endHeaders | Flag.endStream, stream, block));
    }
  }
}

const names = [
  ...['Date', 'server', 'Via', 'Cache-Control', 'X-Kong-Request-Id', 'x-frame-options', 'Authorization', 'Set-Cookie'],
  ...['Accept-Language', 'ETag', 'Location', 'Age', 'x-a', 'X-Long-Name-That-No-Table-Has', 'Vary', 'grpc-message'],
];
const alphabets = [
  'abcdefghijklmnopqrstuvwxyz0123456789',
  '0123456789abcdef',
  '!"#$%&()*+,-./:;<=>?@[]^_`{|}~\\ AZ',
  Array.from({ length: 128 }, (_, at) => String.fromCharCode(128 + at)).join(''),
];

function fieldValue(random: Random): string {
  if (random.once(3)) return random.pick(['nginx', 'gzip, deflate', 'x', '', '1.1 sluicegate', 'no-cache']);
  const alphabet = random.pick(alphabets);
  const length = random.once(10) ? random.int(3000) : random.int(40);
  return Array.from({ length }, () => random.pick([...alphabet]))
    .join('')
    .trim();
}

function lines(random: Random): string[] {
  const name = (): string => (random.once(8) ? `x-${random.int(40)}` : random.pick(names));
  return Array.from({ length: random.int(12) }, () => `${name()}: ${fieldValue(random)}`);
}

function inLowerCase(list: Lines): string[] {
  return list.map((line) => `${line.slice(0, line.indexOf(':')).toLowerCase()}${line.slice(line.indexOf(':'))}`);
}

/** Alternating names and values. */
function flat(list: Lines): string[] {
  return list.flatMap((line) => [line.slice(0, line.indexOf(':', 1)), line.slice(line.indexOf(':', 1) + 2)]);
}

function joined(list: readonly string[]): string[] {
  return list.flatMap((name, at) => (at % 2 === 0 ? [`${name}: ${list[at + 1]}`] : []));
}

/** Sends a request; returns the fields of its response. */
async function exchange(session: ClientHttp2Session, fields: Lines, secret: boolean): Promise<string[]> {
  const list = flat(fields);
  if (secret) Object.assign(list, { [sensitiveHeaders]: ['x-a', 'authorization'] });
  const stream = session.request(list, { endStream: true });
  stream.resume();
  const [, , raw] = (await once(stream, 'response')) as [unknown, unknown, string[]];
  if (!stream.closed) await once(stream, 'close');
  return joined(raw);
}

async function compare(seed: number): Promise<number> {
  const random = new Random(seed);
  const [near, far] = duplexPair();
  const options = { createConnection: () => near, strictSingleValueFields: false } as ClientSessionOptions;
  const session = connect('http://example.com', options);
  const server = new HeadServer(far, random.pick([0, 100, 300, 4096, 65_536]));
  await once(session, 'remoteSettings');
  let fields = 0;
  for (let round = 0; round < rounds; round++) {
    if (random.once(20)) {
      session.settings({ headerTableSize: random.pick([0, 64, 200, 1000, 4096, 100_000]) });
      if (random.once(2)) session.settings({ headerTableSize: random.pick([0, 64, 200, 1000, 4096, 100_000]) });
      await once(session, 'localSettings');
    }
    const answer = lines(random);
    server.status = random.once(2) ? 200 : 200 + random.int(400);
    server.block = answer.map((line) => `${line}\r\n`).join('');
    const pseudo = [':method: GET', ':scheme: http', `:authority: h${random.int(3)}`, `:path: /${random.int(1000)}`];
    const request = [...pseudo, ...inLowerCase(lines(random))];
    const received = await exchange(session, request, random.once(4));
    assert.deepEqual(server.request, request, `round ${round}`);
    assert.deepEqual(received, [`:status: ${server.status}`, ...inLowerCase(answer)], `round ${round}`);
    fields += request.length + received.length;
  }
  session.destroy();
  return fields;
}

describe('HPACK compared with nghttp2', () => {
  for (const seed of [20_261_123, 7, Math.floor(Math.random() * 2 ** 31)]) {
    it(`each side reads what the other writes, whatever the tables hold (seed ${seed})`, async (test) => {
      test.diagnostic(`seed ${seed}: ${await compare(seed)} fields`);
    });
  }
});
