import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { it } from 'node:test';
import { FrameWriter } from './frame-writer.ts';
import { RecordedFrames } from './recorded-frames.fixture.ts';

/** What the frames are to a reader, and the number of writes in which they left. */
function written(write: (writer: FrameWriter) => void): { readonly lines: readonly string[]; readonly writes: number } {
  const writer = new FrameWriter();
  writer.settings([]);
  write(writer);
  const found = new RecordedFrames(false);
  let writes = 0;
  let bytes = 0;
  const socket = new Writable({
    highWaterMark: 10_000_000,
    write(piece: Buffer, _encoding, done) {
      writes++;
      bytes += piece.byteLength;
      found.read(piece);
      done();
    },
  });
  const { size } = writer;
  writer.flush(socket as unknown as Socket);
  assert.equal(bytes, size);
  assert.equal(writer.size, 0);
  return { lines: found.lines.slice(1), writes };
}

it('every frame is what a reader expects, and all leave in one write', () => {
  const { lines, writes } = written((writer) => {
    writer.settings([
      [3, 128],
      [4, 131_072],
    ]);
    writer.settingsAck();
    writer.ping(Buffer.from('x12345678'), 1, true);
    writer.headers(1, Buffer.from('xblock'), 1, 6, false);
    writer.data(1, Buffer.from('xdata'), 1, 5);
    writer.windowUpdate(0, 2 ** 31 - 1);
    writer.reset(2 ** 31 - 1, 11);
    writer.goaway(5, 2 ** 32 - 1);
  });
  assert.deepEqual(lines, [
    'settings 000300000080000400020000',
    'settings ack',
    'ping 12345678 ack',
    'headers 1 block -1',
    'data 1 4 padding 0 data',
    'window 0 2147483647',
    'reset 2147483647 11',
    'goaway 5 4294967295',
  ]);
  assert.equal(writes, 1);
});

it('the last frame of a stream ends it, as long as it is not written', () => {
  const { lines } = written((writer) => {
    writer.headers(1, Buffer.from('a'), 0, 1, false);
    writer.endStream(1);
    writer.headers(3, Buffer.from('b'), 0, 1, false);
    writer.data(3, Buffer.from('c'), 0, 1);
    writer.endStream(3);
    writer.data(5, Buffer.from('d'), 0, 1);
    writer.data(7, Buffer.from('e'), 0, 1);
    writer.endStream(5);
    writer.endStream(7);
  });
  assert.deepEqual(lines, [
    'headers 1 a -1 end',
    'headers 3 b -1',
    'data 3 1 padding 0 c end',
    'data 5 1 padding 0 d',
    'data 7 1 padding 0 e',
    'data 5 0 padding 0  end',
    'data 7 0 padding 0  end',
  ]);
});

it('a stream whose last frame was written ends with an empty one', () => {
  const writer = new FrameWriter();
  const found = new RecordedFrames(false);
  const socket = new Writable({
    write(piece: Buffer, _encoding, done) {
      found.read(piece);
      done();
    },
  }) as unknown as Socket;
  writer.settings([]);
  writer.data(1, Buffer.from('a'), 0, 1);
  writer.flush(socket);
  writer.endStream(1);
  writer.flush(socket);
  assert.deepEqual(found.lines.slice(1), ['data 1 1 padding 0 a', 'data 1 0 padding 0  end']);
});

it('long blocks and bodies become as many frames as they need', () => {
  const block = Buffer.alloc(40_000, 'h');
  const body = Buffer.alloc(200_000, 'd');
  const { lines } = written((writer) => {
    writer.headers(1, block, 0, block.byteLength, false);
    writer.data(1, body, 0, body.byteLength);
    writer.endStream(1);
  });
  assert.equal(lines[0], 'headers 1 hhhhhhhhhh...40000 -1');
  const sizes = lines.slice(1).map((line) => Number(/^data 1 (\d+)/.exec(line)?.[1]));
  assert.equal(
    sizes.reduce((sum, size) => sum + size, 0),
    body.byteLength,
  );
  assert.ok(sizes.every((size) => size <= 16_384));
  assert.ok(lines.at(-1)?.endsWith(' end'));
});
