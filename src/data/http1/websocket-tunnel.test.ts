import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { FrameReader, WebSocketTunnel } from './websocket-tunnel.ts';

function frame(opcode: number, length: number, masked: boolean): Buffer {
  const head = [0x80 | opcode];
  const bit = masked ? 0x80 : 0;
  if (length < 126) head.push(bit | length);
  else if (length < 65_536) head.push(bit | 126, length >> 8, length & 0xff);
  else
    head.push(
      bit | 127,
      0,
      0,
      0,
      0,
      (length >>> 24) & 0xff,
      (length >>> 16) & 0xff,
      (length >>> 8) & 0xff,
      length & 0xff,
    );
  // Payload that looks like a close frame.
  return Buffer.concat([Buffer.from(head), Buffer.alloc(masked ? 4 : 0, 0x88), Buffer.alloc(length, 0x88)]);
}

describe('a reader of WebSocket frames', () => {
  for (const masked of [false, true])
    for (const length of [0, 1, 125, 126, 65_535, 65_536, 70_000])
      it(`finds the end of a frame of ${length} bytes ${masked ? 'with' : 'without'} a mask`, () => {
        const bytes = Buffer.concat([frame(2, length, masked), frame(1, 3, masked)]);
        const first = frame(2, length, masked).byteLength;
        const ends: number[] = [];
        const reader = new FrameReader();
        for (let at = 0; at < bytes.byteLength; at++) {
          reader.read(bytes, at, at + 1);
          if (reader.betweenFrames) ends.push(at + 1);
        }
        assert.deepEqual(ends, [first, bytes.byteLength]);
        assert.equal(reader.closed, false);
        const whole = new FrameReader();
        whole.read(bytes, 0, first - 1);
        assert.equal(whole.betweenFrames, false);
        whole.read(bytes, first - 1, bytes.byteLength);
        assert.equal(whole.betweenFrames, true);
      });
});

describe('a WebSocket that the gateway ends', () => {
  function tunnel() {
    const sent: Buffer[] = [];
    const made = new WebSocketTunnel({
      bodyData: (bytes, start, end) => sent.push(Buffer.from(bytes.subarray(start, end))),
      bodyEnd: () => {},
    });
    return { made, sent };
  }

  it('sends close frames with code 1001 in both directions, masked for the backend', () => {
    const { made, sent } = tunnel();
    assert.deepEqual(made.close(), Buffer.from([0x88, 0x02, 0x03, 0xe9]));
    const [close] = sent as [Buffer];
    assert.deepEqual([...close.subarray(0, 2)], [0x88, 0x82]);
    const payload = close.subarray(6).map((byte, at) => byte ^ close[2 + at]!);
    assert.deepEqual([...payload], [0x03, 0xe9]);
  });

  it('waits for the end of a frame to the client', () => {
    const { made, sent } = tunnel();
    const bytes = frame(1, 300, false);
    made.received(bytes, 0, 200);
    assert.equal(made.close(), null);
    made.received(bytes, 200, bytes.byteLength);
    assert.notEqual(made.close(), null);
    assert.equal(sent.length, 1);
  });

  it('sends nothing to a backend in the middle of a frame, nor behind a close frame', () => {
    const { made, sent } = tunnel();
    const bytes = frame(1, 300, true);
    made.bodyData(bytes, 0, 100);
    assert.notEqual(made.close(), null);
    assert.equal(sent.length, 1);
    const closed = tunnel();
    const close = frame(8, 2, false);
    closed.made.received(close, 0, close.byteLength);
    const fromClient = frame(8, 2, true);
    closed.made.bodyData(fromClient, 0, fromClient.byteLength);
    assert.equal(closed.made.close()?.byteLength, 0);
    assert.equal(closed.sent.length, 1);
  });
});
