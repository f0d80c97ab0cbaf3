import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { HeaderList } from './header-list.ts';
import { HpackDecoder } from './hpack-decoder.ts';

interface Decoded {
  readonly ok: boolean;
  readonly list: HeaderList;
}

function decode(
  bytes: readonly number[] | Buffer,
  decoder = new HpackDecoder(),
  maxSize = 65_536,
  maxCount = 100,
): Decoded {
  const list = new HeaderList();
  list.begin(maxSize, maxCount);
  return { ok: decoder.decode(Buffer.from(bytes), 0, bytes.length, list), list };
}

function lines(list: HeaderList): string[] {
  return list.fields.map(({ name, value }) => `${name}: ${value}`);
}

/** A literal without index and without Huffman codes; `first`: its first byte. */
function literal(name: string, value: string, first = 0x00): number[] {
  return [first, ...text(name), ...text(value)];
}

function text(value: string): number[] {
  const bytes = [...Buffer.from(value, 'latin1')];
  return bytes.length < 127 ? [bytes.length, ...bytes] : [127, ...integer(bytes.length - 127), ...bytes];
}

function integer(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...integer(value >>> 7)];
}

describe('HpackDecoder', () => {
  it('rejects an index that neither table has', () => {
    for (const block of [[0x80], [0xbe], [0xff, 0x00], [0x7f, 0x00, 0x00], [0x0f, 0x80, 0x01, 0x00]])
      assert.equal(decode(block).ok, false, block.join());
  });

  it('rejects a block that ends within a field, wherever it is cut', () => {
    const block = [
      0x82,
      ...literal('name', 'value', 0x40),
      0x44,
      0x84,
      0x62,
      0x53,
      0x9b,
      0x1f,
      ...literal('x', 'y'.repeat(200), 0x10),
    ];
    assert.equal(decode(block).ok, true);
    const ends = new Set([0, 1, 13, 19, block.length]);
    for (let end = 0; end < block.length; end++) assert.equal(decode(block.slice(0, end)).ok, ends.has(end), `${end}`);
  });

  it('rejects integers that are too large', () => {
    for (const lead of [0xff, 0x7f, 0x3f, 0x1f, 0x0f])
      for (const rest of [
        [0x80, 0x80, 0x80, 0x80, 0x01],
        [0xff, 0xff, 0xff, 0xff, 0xff, 0x0f],
        new Array(100).fill(0x80),
      ])
        assert.equal(decode([lead, ...rest]).ok, false);
    assert.equal(decode([0x00, 0x01, 0x61, 0x7f, 0xff, 0xff, 0xff, 0x7f]).ok, false, 'a length beyond the block');
  });

  it('rejects an invalid Huffman code', () => {
    const value = (...bytes: number[]): number[] => [0x00, 0x01, 0x61, 0x80 | bytes.length, ...bytes];
    assert.deepEqual(lines(decode(value(0x1f)).list), ['a: a'], 'five bits and three of padding');
    assert.equal(decode(value(0x1c)).ok, false, 'padding of zeros');
    assert.equal(decode(value(0x1f, 0xff)).ok, false, 'eleven bits of padding');
    assert.equal(decode(value(0xff)).ok, false, 'padding of eight bits');
    assert.equal(decode(value(0xff, 0xff, 0xff, 0xfc)).ok, false, 'the end of string');
    assert.equal(decode(value(0xff, 0xff, 0xff, 0xff)).ok, false, 'the end of string, then padding');
    assert.equal(decode(value(0xff, 0xff, 0xff)).ok, false, 'a part of a long code');
    assert.deepEqual(lines(decode([0x00, 0x01, 0x61, 0x80]).list), ['a: '], 'nothing');
  });

  it('accepts size updates at the start of a block only, and within the limit', () => {
    assert.equal(decode([0x20, 0x3f, 0xe1, 0x1f, 0x82]).ok, true);
    assert.equal(decode([0x20]).ok, true);
    assert.equal(decode([0x3f, 0xe2, 0x1f]).ok, false, '4,097 bytes');
    assert.equal(decode([0x82, 0x20]).ok, false, 'after a field');
  });

  it('evicts the oldest entries for a smaller size and for new ones', () => {
    const decoder = new HpackDecoder();
    decode([...literal('a', '1', 0x40), ...literal('b', '2', 0x40), ...literal('c', '3', 0x40)], decoder);
    assert.equal(decoder.tableSize, 102);
    assert.deepEqual(lines(decode([0xc0, 0xbf, 0xbe], decoder).list), ['a: 1', 'b: 2', 'c: 3']);
    assert.deepEqual(lines(decode([0x3f, 0x46 - 0x1f, 0xbf, 0xbe], decoder).list), ['b: 2', 'c: 3'], '70 bytes');
    assert.equal(decode([0xc0], decoder).ok, false);
    assert.deepEqual(lines(decode([...literal('d', '4', 0x40), 0xbf, 0xbe], decoder).list), ['d: 4', 'c: 3', 'd: 4']);
  });

  it('is emptied by an entry larger than the table, and keeps the name of an entry that its own insertion evicts', () => {
    const decoder = new HpackDecoder();
    decode(literal('name', 'x'.repeat(2000), 0x40), decoder);
    const [field] = decode([0x7e, ...text('y'.repeat(4000))], decoder).list.fields;
    assert.equal(field?.name, 'name');
    assert.equal(decoder.tableSize, 4036);
    assert.equal(decode(literal('a', 'z'.repeat(4064), 0x40), decoder).list.count, 1);
    assert.equal(decoder.tableSize, 0);
  });

  it('keeps many entries in order', () => {
    const decoder = new HpackDecoder();
    for (let at = 0; at < 1000; at++) decode(literal('', `${at}`, 0x40), decoder);
    const indexes = (count: number): number[] =>
      [...Array(count).keys()].flatMap((at) => (at < 65 ? [0x80 | (62 + at)] : [0xff, at - 65]));
    assert.equal(decode(indexes(118), decoder, 1e6, 200).ok, false);
    assert.deepEqual(
      decode(indexes(117), decoder, 1e6, 200).list.fields.map(({ value }) => Number(value)),
      [...Array(117).keys()].map((at) => 999 - at),
    );
  });

  it('keeps no more fields than allowed of a block that expands, and stays in step', () => {
    const decoder = new HpackDecoder();
    const bomb = [...literal('cookie', 'x'.repeat(4000), 0x40), ...new Array(16_000).fill(0xbe)];
    const { ok, list } = decode(bomb, decoder, 65_536, 1000);
    assert.equal(ok, true);
    assert.equal(list.exceeded, true);
    assert.equal(list.fields.length, 16);
    assert.equal(list.count, 16_001);
    assert.equal(list.size, 16_001 * 4038);
    const many = decode([...new Array(2000).fill(0x82), ...literal('after', 'it', 0x40)], decoder, 1e9, 1000);
    assert.equal(many.list.fields.length, 1000);
    assert.equal(many.list.exceeded, true);
    assert.deepEqual(lines(decode([0xbe], decoder).list), ['after: it']);
  });

  it('says which names and values are invalid', () => {
    const valid = (name: string, value: string): boolean => decode(literal(name, value)).list.valid;
    assert.equal(valid('x-a', 'b\tc \x80\xff'), true);
    assert.equal(valid(':path', '/'), true);
    for (const name of ['', ':', 'A', 'a b', 'a:b', 'a\n', 'é', 'a\x00', ' a'])
      assert.equal(valid(name, 'x'), false, name);
    for (const value of ['a\rb', 'a\nb', 'a\x00b', '\x7f', ' a', 'a ', '\ta', 'a\t', ' '])
      assert.equal(valid('a', value), false, JSON.stringify(value));
    for (const name of ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'])
      assert.equal(valid(name, 'x'), false, name);
    assert.equal(decode([0x0f, 57 - 15, 0x01, 0x78]).list.valid, false, 'transfer-encoding of the static table');
    const decoder = new HpackDecoder();
    assert.equal(decode(literal('a', '\n', 0x40), decoder).list.valid, false);
    assert.equal(decode([0xbe], decoder).list.valid, false, 'by index');
    assert.equal(decode([0x7e, 0x01, 0x62], decoder).list.valid, true, 'its name with another value');
  });
});
