import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BlockBuffer } from './block-buffer.ts';
import { HeaderList } from './header-list.ts';
import { HpackDecoder } from './hpack-decoder.ts';
import { HpackEncoder } from './hpack-encoder.ts';

/** An encoder and the decoder of its peer. */
class Pair {
  readonly encoder = new HpackEncoder();
  readonly decoder: HpackDecoder;
  readonly buffer = new BlockBuffer();

  constructor(maxTableSize = 4096) {
    this.decoder = new HpackDecoder(maxTableSize);
  }

  /** The fields that arrive. */
  carry(encode: (encoder: HpackEncoder, to: BlockBuffer) => void): string[] {
    this.buffer.length = 0;
    encode(this.encoder, this.buffer);
    const list = new HeaderList();
    list.begin(1_000_000, 1000);
    assert.equal(this.decoder.decode(this.buffer.bytes, 0, this.buffer.length, list), true);
    assert.equal(list.valid, true);
    return list.fields.map(({ name, value }) => `${name}: ${value}`);
  }

  get bytes(): number[] {
    return [...this.buffer.bytes.subarray(0, this.buffer.length)];
  }
}

const block = 'Content-Type: application/json\r\nDate: Mon, 21 Oct 2013 20:13:21 GMT\r\nVia: 1.1 sluicegate\r\n';

describe('HpackEncoder', () => {
  it('sends a response in lower case, without what belongs to connections', () => {
    const pair = new Pair();
    const lines = `${block}Connection: close\r\nKeep-Alive: x\r\nTransfer-Encoding: chunked\r\nUpgrade: y\r\nTE: z\r\nContent-Length: 3\r\nX-Any:\r\nx-Blanks:\t a b \t\r\n`;
    for (let round = 0; round < 3; round++)
      assert.deepEqual(
        pair.carry((encoder, to) => encoder.response(to, 200, lines, 17)),
        [
          ':status: 200',
          'content-type: application/json',
          'date: Mon, 21 Oct 2013 20:13:21 GMT',
          'via: 1.1 sluicegate',
          'x-any: ',
          'x-blanks: a b',
          'content-length: 17',
        ],
      );
  });

  it('sends a request with its target and host in pseudo-header fields', () => {
    const pair = new Pair();
    const head =
      'GET /a?b=c HTTP/1.1\r\nHost: example.com:8080\r\nConnection: keep-alive\r\nAccept: */*\r\nTE: x\r\n\r\n';
    for (let round = 0; round < 3; round++)
      assert.deepEqual(
        pair.carry((encoder, to) => encoder.request(to, head, 'https')),
        [
          ...[':method: GET', ':scheme: https', ':authority: example.com:8080', ':path: /a?b=c'],
          ...['accept: */*', 'te: trailers'],
        ],
      );
    const edited = 'PURGE / HTTP/1.1\r\nAccept: */*\r\nhost:other\r\n\r\n';
    assert.deepEqual(
      pair.carry((encoder, to) => encoder.request(to, edited, 'http')),
      [':method: PURGE', ':scheme: http', ':authority: other', ':path: /', 'accept: */*', 'te: trailers'],
    );
  });

  it('sends what repeats in one byte for each field', () => {
    const pair = new Pair();
    const response = (): string[] => pair.carry((encoder, to) => encoder.response(to, 418, block, -1));
    const first = response();
    assert.deepEqual(response(), first);
    assert.equal(pair.bytes.length, 4);
  });

  it('never indexes secrets', () => {
    const pair = new Pair();
    for (const name of ['Set-Cookie', 'cookie', 'Authorization', 'X-API-Key'])
      for (let round = 0; round < 2; round++) {
        const fields = pair.carry((encoder, to) => encoder.trailers(to, `${name}: secret\r\n`));
        assert.deepEqual(fields, [`${name.toLowerCase()}: secret`]);
        assert.equal((pair.bytes[0] as number) & 0xf0, 0x10);
      }
    assert.equal(pair.decoder.tableSize, 0);
  });

  it('indexes the name alone of what differs for each message', () => {
    const pair = new Pair();
    for (let round = 0; round < 100; round++) {
      const id = `${round}`.padStart(8, '0');
      assert.deepEqual(
        pair.carry((encoder, to) => encoder.trailers(to, `X-Kong-Request-Id: ${id}\r\n`)),
        [`x-kong-request-id: ${id}`],
      );
    }
    assert.equal(pair.bytes.length, 11);
    assert.equal(pair.decoder.tableSize, 57);
  });

  it('stays in step with the decoder while entries are evicted', () => {
    const pair = new Pair();
    for (let round = 0; round < 2000; round++) {
      const lines = `Server: s${round % 7}\r\nVia: ${'v'.repeat(round % 500)}\r\nDate: ${round % 300}\r\nX-Other: ${round}\r\nVary: ${'w'.repeat(round % 600)}\r\n`;
      const status = 200 + (round % 400);
      assert.deepEqual(
        pair.carry((encoder, to) => encoder.response(to, status, lines, round)),
        [
          `:status: ${status}`,
          ...lines
            .toLowerCase()
            .trimEnd()
            .split('\r\n')
            .map((line) => line.replace(/:$/, ': ')),
          `content-length: ${round}`,
        ],
      );
    }
  });

  it('announces each size of the table at the start of the next block: the smallest, then the last', () => {
    const pair = new Pair();
    const bytes = (...sizes: number[]): number[] => {
      for (const size of sizes) pair.encoder.setMaxTableSize(size);
      assert.deepEqual(
        pair.carry((encoder, to) => encoder.response(to, 200, 'Server: x\r\n', -1)),
        [':status: 200', 'server: x'],
      );
      return pair.bytes;
    };
    assert.deepEqual(bytes(), [0x88, 0x76, 0x01, 0x78]);
    assert.deepEqual(bytes(65_536), [0x88, 0xbe], 'more than the encoder uses');
    assert.deepEqual(bytes(0), [0x20, 0x88, 0x0f, 0x27, 0x01, 0x78], 'not indexed');
    assert.equal(pair.decoder.tableSize, 0);
    assert.deepEqual(bytes(), [0x88, 0x0f, 0x27, 0x01, 0x78]);
    assert.deepEqual(bytes(100), [0x3f, 0x45, 0x88, 0x76, 0x01, 0x78]);
    assert.deepEqual(bytes(0, 50, 30), [0x20, 0x3e, 0x88, 0x0f, 0x27, 0x01, 0x78]);
    assert.deepEqual(bytes(4096), [0x3f, 0xe1, 0x1f, 0x88, 0x76, 0x01, 0x78]);
    assert.deepEqual(bytes(0, 10_000), [0x20, 0x3f, 0xe1, 0x1f, 0x88, 0x76, 0x01, 0x78]);
    assert.deepEqual(bytes(), [0x88, 0xbe]);
  });

  it('takes heads of any length', () => {
    const pair = new Pair();
    const lines = Array.from({ length: 900 }, (_, at) => `${String.fromCharCode(97 + (at % 26))}: \r\n`).join('');
    const names = `${'N'.repeat(300)}: ${'\xff'.repeat(40_000)}\r\nVia: ${'\xff'.repeat(40_000)}\r\n`;
    const fields = pair.carry((encoder, to) => encoder.response(to, 599, lines + names, 1));
    assert.equal(fields.length, 904);
    assert.deepEqual(fields.slice(901, 903), names.toLowerCase().trimEnd().split('\r\n'));
  });
});
