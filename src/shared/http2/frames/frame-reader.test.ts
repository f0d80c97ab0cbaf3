import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Flag, FrameType, ResetCode } from './codes.ts';
import { frame, opening, RecordedFrames, uint32 } from './recorded-frames.fixture.ts';

const priority = Buffer.concat([uint32(0x8000_0007), Buffer.from([15])]);

/** Every type of frame, and every form of it; with what is found in it. */
const session: readonly (readonly [Buffer, string])[] = [
  [opening, 'settings '],
  [frame(FrameType.settings, Flag.ack, 0), 'settings ack'],
  [frame(FrameType.settings, 0, 0, Buffer.concat([Buffer.from([0, 3]), uint32(9)])), 'settings 000300000009'],
  [frame(FrameType.headers, Flag.endHeaders, 1, 'block'), 'headers 1 block -1'],
  [frame(FrameType.headers, Flag.endHeaders | Flag.endStream, 3, ''), 'headers 3  -1 end'],
  [
    frame(
      FrameType.headers,
      Flag.endHeaders | Flag.padded | Flag.priority,
      5,
      Buffer.concat([Buffer.from([3]), priority, Buffer.from('block\0\0\0')]),
    ),
    'headers 5 block 7',
  ],
  [
    Buffer.concat([
      frame(FrameType.headers, Flag.endStream, 7, 'a'),
      frame(FrameType.continuation, 0, 7, ''),
      frame(FrameType.continuation, 0, 7, 'bc'),
      frame(FrameType.continuation, Flag.endHeaders, 7, 'd'),
    ]),
    'headers 7 abcd -1 end',
  ],
  [frame(FrameType.data, 0, 1, 'some data'), 'data 1 9 padding 0 some data'],
  [frame(FrameType.data, Flag.endStream, 1), 'data 1 0 padding 0  end'],
  [frame(FrameType.data, Flag.padded, 5, '\x04data\0\0\0\0'), 'data 5 9 padding 5 data'],
  [frame(FrameType.data, Flag.padded | Flag.endStream, 5, '\0'), 'data 5 1 padding 1  end'],
  [frame(FrameType.priority, 0, 9, priority), 'priority 9 7'],
  [frame(FrameType.priority, 0, 9, 'abc'), `stream error 9 ${ResetCode.frameSizeError}`],
  [frame(FrameType.rstStream, 0, 5, uint32(8)), 'reset 5 8'],
  [frame(FrameType.ping, 0, 0, '12345678'), 'ping 12345678'],
  [frame(FrameType.ping, Flag.ack, 0, '12345678'), 'ping 12345678 ack'],
  [frame(FrameType.windowUpdate, 0, 0, uint32(0xffff_ffff)), 'window 0 2147483647'],
  [frame(FrameType.windowUpdate, 0, 0x8000_0001, uint32(1)), 'window 1 1'],
  [frame(0x42, 0xff, 77, 'anything'), 'unknown'],
  [frame(0x43, 0, 0), 'unknown'],
  [frame(FrameType.goaway, 0, 0, Buffer.concat([uint32(0x8000_0005), uint32(2), Buffer.from('why')])), 'goaway 5 2'],
];
const bytes = Buffer.concat(session.map(([part]) => part));
const expected = session.map(([, line]) => line);

describe('frames', () => {
  it('are found in one read', () => {
    const found = new RecordedFrames();
    found.read(bytes);
    assert.deepEqual(found.lines, expected);
  });

  it('are found wherever the reads are split', () => {
    for (let at = 1; at < bytes.byteLength; at++) {
      const found = new RecordedFrames();
      found.read(bytes.subarray(0, at));
      found.read(bytes.subarray(at));
      assert.deepEqual(found.lines, expected, `split at ${at}`);
    }
  });

  for (const size of [1, 2, 7, 9, 10]) {
    it(`are found in reads of ${size} bytes`, () => {
      const found = new RecordedFrames();
      for (let at = 0; at < bytes.byteLength; at += size) found.read(bytes.subarray(at, at + size));
      assert.deepEqual(found.lines, expected);
    });
  }

  it('of the largest size are found in any reads', () => {
    const large = Buffer.concat([
      opening,
      frame(FrameType.headers, Flag.endHeaders, 1, 'h'.repeat(16_384)),
      frame(FrameType.data, 0, 1, 'd'.repeat(16_384)),
      frame(0x42, 0, 0, 'u'.repeat(16_384)),
    ]);
    for (const size of [large.byteLength, 65_536, 16_384, 1000, 9]) {
      const found = new RecordedFrames();
      for (let at = 0; at < large.byteLength; at += size) found.read(large.subarray(at, at + size));
      assert.deepEqual(found.lines, [
        'settings ',
        'headers 1 hhhhhhhhhh...16384 -1',
        'data 1 16384 padding 0 dddddddddd...16384',
        'unknown',
      ]);
    }
  });
});

const headers = frame(FrameType.headers, 0, 1, 'a');

/** What ends the connection whatever its state (RFC 9113 4.1, 4.2, 6). */
const broken: Readonly<Record<string, readonly [Buffer, number]>> = {
  'a frame above the size': [frame(0x42, 0, 0, Buffer.alloc(16_385)), ResetCode.frameSizeError],
  'DATA without a stream': [frame(FrameType.data, 0, 0, 'a'), ResetCode.protocolError],
  'padding as long as its DATA': [frame(FrameType.data, Flag.padded, 1, '\x02a'), ResetCode.protocolError],
  'DATA without the length of its padding': [frame(FrameType.data, Flag.padded, 1), ResetCode.frameSizeError],
  'HEADERS without a stream': [frame(FrameType.headers, Flag.endHeaders, 0, 'a'), ResetCode.protocolError],
  'padding longer than its HEADERS': [frame(FrameType.headers, 0xc, 1, '\x02a'), ResetCode.protocolError],
  'HEADERS too short for a priority': [frame(FrameType.headers, 0x24, 1, 'abc'), ResetCode.frameSizeError],
  'PRIORITY without a stream': [frame(FrameType.priority, 0, 0, priority), ResetCode.protocolError],
  'RST_STREAM without a stream': [frame(FrameType.rstStream, 0, 0, uint32(1)), ResetCode.protocolError],
  'RST_STREAM of five bytes': [frame(FrameType.rstStream, 0, 1, 'abcde'), ResetCode.frameSizeError],
  'SETTINGS of a stream': [frame(FrameType.settings, 0, 1), ResetCode.protocolError],
  'SETTINGS of seven bytes': [frame(FrameType.settings, 0, 0, 'abcdefg'), ResetCode.frameSizeError],
  'an acknowledgement with entries': [frame(FrameType.settings, Flag.ack, 0, 'abcdef'), ResetCode.frameSizeError],
  PUSH_PROMISE: [frame(FrameType.pushPromise, Flag.endHeaders, 1, 'abcdef'), ResetCode.protocolError],
  'PING of a stream': [frame(FrameType.ping, 0, 1, '12345678'), ResetCode.protocolError],
  'PING of six bytes': [frame(FrameType.ping, 0, 0, '123456'), ResetCode.frameSizeError],
  'GOAWAY of a stream': [frame(FrameType.goaway, 0, 1, '12345678'), ResetCode.protocolError],
  'GOAWAY of seven bytes': [frame(FrameType.goaway, 0, 0, '1234567'), ResetCode.frameSizeError],
  'WINDOW_UPDATE of three bytes': [frame(FrameType.windowUpdate, 0, 1, 'abc'), ResetCode.frameSizeError],
  'CONTINUATION without HEADERS': [frame(FrameType.continuation, 4, 1, 'a'), ResetCode.protocolError],
  'CONTINUATION of another stream': [
    Buffer.concat([headers, frame(FrameType.continuation, 4, 3, 'a')]),
    ResetCode.protocolError,
  ],
  'an unknown frame within a header block': [Buffer.concat([headers, frame(0x42, 0, 1)]), ResetCode.protocolError],
  'a header block of too many frames': [
    Buffer.concat([headers, ...Array.from({ length: 65 }, () => frame(FrameType.continuation, 0, 1))]),
    ResetCode.enhanceYourCalm,
  ],
  'a header block of too many bytes': [
    Buffer.concat([headers, ...[1, 2, 3].map(() => frame(FrameType.continuation, 0, 1, 'a'.repeat(16_000)))]),
    ResetCode.enhanceYourCalm,
  ],
};

describe('a reader stops at', () => {
  for (const [what, [part, code]] of Object.entries(broken)) {
    it(what, () => {
      const all = Buffer.concat([opening, part, frame(FrameType.ping, 0, 0, '12345678')]);
      for (const size of [all.byteLength, 1]) {
        const found = new RecordedFrames();
        for (let at = 0; at < all.byteLength; at += size) found.read(all.subarray(at, at + size));
        assert.deepEqual(found.lines, ['settings ', `connection error ${code}`]);
      }
    });
  }

  it('a preface that is none, and a first frame that is not SETTINGS', () => {
    for (const wrong of [
      Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n'),
      Buffer.from('GET / HTTP/1.1\r\n'),
      Buffer.concat([opening.subarray(0, 24), frame(FrameType.ping, 0, 0, '12345678')]),
      Buffer.concat([opening.subarray(0, 24), frame(FrameType.settings, Flag.ack, 0)]),
    ]) {
      const found = new RecordedFrames();
      found.read(wrong);
      assert.deepEqual(found.lines, [`connection error ${ResetCode.protocolError}`]);
    }
  });
});
