import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { addedField, indexedField } from '../support/hpack-bytes.ts';
import {
  encodeFields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  openFrames,
  openSecureFrames,
  preface,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, answerEach } from '../support/raw-backend.ts';

const post = (path: string): Buffer =>
  encodeFields(
    getFields(path, [['te', 'trailers']]).map(([name, value]) => [name, name === ':method' ? 'POST' : value]),
  );
const head = post('/upload');

/** A whole session: each kind of frame, two requests with bodies of several frames, padding, a split head, trailers. */
const session = Buffer.concat([
  Buffer.from(preface, 'latin1'),
  frame(Frame.settings, 0, 0, settingsPayload([3, 50], [4, 65_000])),
  frame(Frame.windowUpdate, 0, 0, uint32(1000)),
  frame(Frame.headers, 0, 1, head.subarray(0, 9)),
  frame(Frame.continuation, 0, 1, head.subarray(9, 10)),
  frame(Frame.continuation, Flag.endHeaders, 1, Buffer.concat([head.subarray(10), addedField('x-kept', 'value')])),
  frame(Frame.data, 0, 1, 'first,'),
  frame(Frame.ping, 0, 0, '12345678'),
  frame(Frame.headers, Flag.endHeaders, 3, Buffer.concat([post('/second'), indexedField(62)])),
  frame(Frame.data, Flag.padded, 1, Buffer.concat([Buffer.from([3]), Buffer.from('second,'), Buffer.alloc(3)])),
  frame(0x42, 0, 0, 'unknown'),
  frame(Frame.data, Flag.endStream, 3, 'other'),
  frame(Frame.data, 0, 1, 'third'),
  frame(Frame.priority, 0, 1, Buffer.concat([uint32(0), Buffer.from([9])])),
  frame(Frame.headers, Flag.endHeaders | Flag.endStream, 1, encodeFields([['x-trailer', 'end']])),
  frame(Frame.headers, Flag.endHeaders | Flag.endStream, 5, encodeFields(getFields('/last'))),
]);

describe('a session that arrives in pieces', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({ script: answerEach((request) => answer(request.body)) });
  });
  after(() => rig?.close());

  /** Writes the pieces, each read by the gateway on its own as far as a test can see to it. */
  async function check(client: FrameClient, pieces: readonly Buffer[], what: string): Promise<void> {
    const before = rig.backend.requests.length;
    // The acknowledgement of SETTINGS would get between the pieces.
    client.answers = false;
    for (const piece of pieces) {
      await new Promise((resolve) => client.socket.write(piece, resolve));
      await nextTurn();
    }
    const answers = [await client.finished(1), await client.finished(3), await client.finished(5)];
    assert.deepEqual(
      answers.map(({ status, bytes, ended }) => [status, bytes, ended]),
      [
        [200, 'first,second,third'.length, true],
        [200, 'other'.length, true],
        [200, 0, true],
      ],
      what,
    );
    await client.until(() => client.pongs === 1);
    assert.equal(client.goawayCode, null, what);
    const seen = rig.backend.requests.slice(before);
    const upload = seen.find(({ target }) => target === '/upload');
    assert.equal(upload?.body, 'first,second,third', what);
    assert.match(upload.trailers, /^x-trailer: end/im, what);
    assert.equal(upload.get('x-kept'), 'value', what);
    assert.equal(seen.find(({ target }) => target === '/second')?.get('x-kept'), 'value', what);
    assert.equal(seen.length, 3, what);
  }

  it('is read the same wherever it is split', async () => {
    for (let at = 1; at < session.byteLength; at++) {
      using client = await openFrames(rig.port, null);
      await check(client, [session.subarray(0, at), session.subarray(at)], `split at ${at}`);
    }
  });

  for (const size of [1, 2, 3, 7, 9, 10, 64]) {
    it(`is read the same in pieces of ${size} bytes, plain and over TLS`, async () => {
      const pieces: Buffer[] = [];
      for (let at = 0; at < session.byteLength; at += size) pieces.push(session.subarray(at, at + size));
      using plain = await openFrames(rig.port, null);
      await check(plain, pieces, 'plain');
      using secure = await openSecureFrames(rig.tlsPort, null);
      await check(secure, pieces, 'TLS');
    });
  }
});
