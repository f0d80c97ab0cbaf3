import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  addedField,
  hpackInteger,
  hpackString,
  huffmanBytes,
  indexedField,
  tableSize,
} from '../support/hpack-bytes.ts';
import {
  Code,
  encodeFields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';
import { answer, answerEach } from '../support/raw-backend.ts';
import { type AttackedGateway, describeCost, startAttackedGateway, writeAll } from './attacked-gateway.ts';

const head = encodeFields(getFields('/good'));
const whole = Flag.endStream | Flag.endHeaders;
const megabyte = 1_048_576;

function block(...parts: readonly Uint8Array[]): Buffer {
  return Buffer.concat(parts);
}

/** A literal without indexing of a new name, with these strings as they are. */
function literal(name: Uint8Array, value: Uint8Array): Buffer {
  return block(Buffer.from([0]), name, value);
}

/** Blocks that cannot be decoded (RFC 7541). The connection ends, because the tables of both sides no longer agree. */
const undecodable: Readonly<Record<string, Buffer>> = {
  'index 0': block(head, Buffer.from([0x80])),
  'an index above both tables': block(head, indexedField(62)),
  'an index far above both tables': block(head, indexedField(2 ** 31)),
  'a name of an index above both tables': block(head, hpackInteger(0x40, 6, 62), hpackString('v')),
  'a name without indexing of such an index': block(head, hpackInteger(0, 4, 70), hpackString('v')),
  'an integer above 2^32': block(head, indexedField(2 ** 40)),
  'an integer that continues for ever': block(head, Buffer.from([0xff]), Buffer.alloc(200, 0xff)),
  'an integer of zeros that continues for ever': block(head, Buffer.from([0xff]), Buffer.alloc(200, 0x80)),
  'an integer without end': block(head, Buffer.from([0xff])),
  'a name longer than the block': block(head, Buffer.from([0, 100, 0x61])),
  'a value longer than the block': block(head, literal(hpackString('x-a'), Buffer.from([100, 0x61]))),
  'a string of 2^31 bytes': block(head, literal(hpackString('x-a'), hpackInteger(0, 7, 2 ** 31))),
  'a field without value': block(head, Buffer.from([0]), hpackString('x-a')),
  'Huffman: EOS': block(head, literal(hpackString('x-a'), huffmanBytes(0xff, 0xff, 0xff, 0xff))),
  'Huffman: eight bits of padding': block(head, literal(hpackString('x-a'), huffmanBytes(0x1f, 0xff))),
  'Huffman: padding of zeros': block(head, literal(hpackString('x-a'), huffmanBytes(0x18))),
  'Huffman: a code that is cut off': block(head, literal(hpackString('x-a'), huffmanBytes(0xff, 0xfe))),
  'a table size behind a field': block(head, tableSize(100)),
  'a table size above the agreed one': block(tableSize(4097), head),
  'a table size of 2^31': block(tableSize(2 ** 31), head),
  'an entry that a smaller table evicted': block(
    head,
    addedField('x-a', 'b'),
    // Larger than the whole table, which is empty afterwards (RFC 7541 4.4).
    addedField('x-b', 'v'.repeat(5_000)),
    indexedField(62),
  ),
};

/** Blocks that are unusual and valid. */
const decodable: Readonly<Record<string, Buffer>> = {
  'two table sizes': block(tableSize(0), tableSize(4096), head),
  'a table size of 0': block(tableSize(0), head, addedField('x-a', 'b')),
  'an integer with zeros at its end': block(
    head,
    Buffer.from([0x00, 0x7f, 0x80, 0x80, 0x00]),
    Buffer.alloc(127, 0x61),
    hpackString('v'),
  ),
  'an empty value': block(head, literal(hpackString('x-a'), Buffer.from([0]))),
  'an empty value in Huffman code': block(head, literal(hpackString('x-a'), Buffer.from([0x80]))),
  'Huffman code with seven bits of padding': block(head, literal(hpackString('x-a'), huffmanBytes(0xf8, 0x7f))),
  'a field that is never indexed': block(head, Buffer.from([0x10]), hpackString('x-a'), hpackString('b')),
  'an entry of exactly the table': block(head, addedField('x-a', 'v'.repeat(4096 - 32 - 3)), indexedField(62)),
};

describe('header blocks', () => {
  let gateway: AttackedGateway;
  before(async () => {
    gateway = await startAttackedGateway(
      answerEach((request) => (request.target.startsWith('/never') ? null : answer('ok'))),
    );
  });
  after(() => gateway?.[Symbol.asyncDispose]());

  for (const [what, bytes] of Object.entries(undecodable)) {
    it(`end the connection with COMPRESSION_ERROR: ${what}`, async () => {
      using client = await gateway.open(false);
      client.write(frame(Frame.headers, whole, 1, bytes));
      assert.equal(await client.refused(), Code.compressionError);
      await client.until(() => client.closed);
    });
  }

  for (const [what, bytes] of Object.entries(decodable)) {
    it(`are decoded: ${what}`, async () => {
      using client = await gateway.open(false);
      client.write(frame(Frame.headers, whole, 1, bytes));
      assert.equal((await client.finished(1)).status, 200);
    });
  }

  it('that are cut off anywhere end the connection or only the stream, and reach no backend', async () => {
    const seen = gateway.backend.requests.length;
    const bytes = block(head, addedField('x-name', 'value'), literal(hpackString('x-b'), huffmanBytes(0xf8, 0x7f)));
    for (let length = 0; length < head.byteLength; length++) {
      using client = await gateway.open(false);
      client.write(frame(Frame.headers, whole, 1, bytes.subarray(0, length)));
      const { status, code } = await client.finished(1);
      const refused = client.closed || client.goawayCode === Code.compressionError || code === Code.protocolError;
      assert.ok(refused || status === 400, `${length} bytes: status ${status}, code ${code}`);
    }
    assert.equal(gateway.backend.requests.length, seen);
  });

  it('of refused requests still change the table', async () => {
    using client = await gateway.open(false);
    const refused: readonly (readonly [string, Buffer, number])[] = [
      ['malformed', encodeFields([[':method', 'GET']]), whole],
      ['of two hosts', encodeFields(getFields('/good', [['host', 'other.example']])), whole],
      ['too large', encodeFields(getFields('/good', [['x-large', 'v'.repeat(16_000)]])), whole],
    ];
    let stream = 1;
    for (const [value, bytes, flags] of refused) {
      client.write(frame(Frame.headers, flags, stream, block(bytes, addedField('x-kept', value))));
      await client.finished(stream);
      stream += 2;
      client.write(frame(Frame.headers, whole, stream, block(head, indexedField(62))));
      assert.equal((await client.finished(stream)).status, 200, value);
      assert.equal(gateway.backend.requests.at(-1)?.get('x-kept'), value);
      stream += 2;
    }
    assert.equal(client.goawayCode, null);
  });

  it('of streams above the limit, of reset ones and in trailers still change the table', async () => {
    using client = await gateway.open(false);
    let stream = 1;
    for (; stream < 2 * 128; stream += 2) client.request(stream, getFields('/never'), false);
    const kept = async (value: string): Promise<void> => {
      // A stream is free again.
      client.write(frame(Frame.rstStream, 0, 3, uint32(8)));
      stream += 2;
      client.write(frame(Frame.headers, whole, stream, block(head, indexedField(62))));
      assert.deepEqual(await client.finished(stream), { status: 200, bytes: 2, ended: true, code: null }, value);
      assert.equal(gateway.backend.requests.at(-1)?.get('x-kept'), value);
      stream += 2;
    };
    client.write(frame(Frame.headers, whole, stream, block(head, addedField('x-kept', 'above the limit'))));
    assert.equal((await client.finished(stream)).code, Code.refusedStream);
    await kept('above the limit');
    client.write(frame(Frame.headers, whole, stream, block(head, addedField('x-kept', 'reset'))));
    client.write(frame(Frame.rstStream, 0, stream, uint32(8)));
    stream += 2;
    await kept('reset');
    client.write(frame(Frame.headers, whole, 1, addedField('x-kept', 'in trailers')));
    await kept('in trailers');
  });

  /** Every request changes the table in the way that costs the decoder most. */
  const changes: Readonly<Record<string, () => Buffer>> = {
    'table sizes back and forth': () =>
      block(...Array.from({ length: 4_000 }, (_, at) => tableSize(at % 2 === 0 ? 0 : 4096)), head),
    'a full table that one entry empties': () =>
      block(head, ...Array.from({ length: 120 }, () => addedField('a', '')), addedField('x-b', 'v'.repeat(4_000))),
    'names of one entry again and again': () =>
      block(
        head,
        addedField('n'.repeat(4_000), ''),
        ...Array.from({ length: 60 }, () => block(hpackInteger(0x40, 6, 62), hpackString(''))),
      ),
  };

  for (const [what, bytes] of Object.entries(changes)) {
    it(`cost bounded CPU time and memory: ${what}`, async (test) => {
      using client = await gateway.open(false);
      const one = bytes();
      const cost = await gateway.measure(async () => {
        for (let stream = 1; stream < 2_000 && !client.closed; stream += 2)
          await writeAll(client, frame(Frame.headers, whole, stream, one));
        await client.until(() => client.closed || client.record(1_999).ended || client.record(1_999).code !== null);
      });
      test.diagnostic(describeCost(cost));
      assert.ok(cost.memory < 64 * megabyte, `${cost.memory} bytes`);
      assert.ok(cost.cpu < 6_000, `${cost.cpu} ms of CPU`);
    });
  }

  it('of answers use a bounded table, whatever size the client allows', async (test) => {
    using client = await gateway.open(false, settingsPayload([1, 0xffffffff]));
    await gateway.admin('PUT', '/routes/all/plugins/7f5c9b2e-8f1d-4c35-9d3b-0a4f2a1c9e11', {
      name: 'correlation-id',
      config: { echo_downstream: true, generator: 'uuid' },
    });
    const cost = await gateway.measure(() => requests(client, 3_000));
    test.diagnostic(describeCost(cost));
    assert.ok(cost.memory < 48 * megabyte, `${cost.memory} bytes`);
  });

  it('of answers follow the table size that the client changes', async () => {
    using client = await gateway.open(false);
    for (const [at, size] of [0, 4096, 100, 0xffffffff, 0, 1, 4096].entries()) {
      client.write(frame(Frame.settings, 0, 0, settingsPayload([1, size])));
      client.request(2 * at + 1, getFields('/good'));
      assert.equal((await client.finished(2 * at + 1)).ended, true);
    }
  });
});

/** So many requests, one after the other. */
async function requests(client: FrameClient, count: number): Promise<void> {
  for (let at = 0; at < count; at += 50) {
    for (let next = at; next < at + 50; next++) client.request(2 * next + 1, getFields('/good'));
    await client.until(() => client.record(2 * (at + 49) + 1).ended);
  }
}
