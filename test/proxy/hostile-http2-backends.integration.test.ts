import assert from 'node:assert/strict';
import { connect } from 'node:http2';
import { after, before, describe, it } from 'node:test';
import { type Http2Answer, Http2Client, openHttp2, readAnswer } from '../support/http2-client.ts';
import { Code, encodeFields, Flag, Frame, frame, settingsPayload, uint32 } from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import {
  okHead,
  type RawHttp2Backend,
  type RawHttp2Options,
  type RawSession,
  startRawHttp2Backend,
} from '../support/raw-http2-backend.ts';
import { until } from '../support/until.ts';

const grpc = { protocol: 'grpc', host: '127.0.0.1' };
const initialWindowSize = 4;
const call = { ':method': 'POST', 'content-type': 'application/grpc', te: 'trailers' };

let rig: Http2Rig;
before(async () => {
  rig = await startHttp2Rig({ route: { protocols: ['grpc'] }, service: { url: null, ...grpc, port: 1 } });
});
after(() => rig?.close());

interface Trial extends AsyncDisposable {
  readonly backend: RawHttp2Backend;
  readonly client: Http2Client;
  call(body?: string): Promise<Http2Answer>;
}

/** The gateway between a client and a scripted backend; no retries. */
async function startTrial(options: RawHttp2Options, service: object = {}): Promise<Trial> {
  const backend = await startRawHttp2Backend(options);
  await rig.write('PUT', '/services/backend', { ...grpc, port: backend.port, retries: 0, ...service });
  const client = await openHttp2(rig.port);
  return {
    backend,
    client,
    call: (body = 'xxxxx') => client.request('/a.B/C', { headers: call, body }),
    async [Symbol.asyncDispose]() {
      await client.close();
      await backend[Symbol.asyncDispose]();
    },
  };
}

/** The first request gets what `attack` sends, all others an answer. */
function firstOnly(attack: (session: RawSession, stream: number) => void): RawHttp2Options {
  return {
    request: (session, stream, count) => {
      if (session.number === 1 && count === 1) attack(session, stream);
      else session.answer(stream, `session ${session.number}`);
    },
  };
}

const headersFlags = Flag.endHeaders | Flag.endStream;

describe('a backend that breaks the rules of a stream', () => {
  const attacks: Readonly<Record<string, (session: RawSession, stream: number) => void>> = {
    'DATA before the head': (session, stream) => session.send(Frame.data, 0, stream, 'early'),
    'an end before the head': (session, stream) => session.send(Frame.data, Flag.endStream, stream),
    'a final head, then DATA, for a request that was reset': (session, stream) => {
      session.headers(stream, [...okHead, ['X-A', 'b']]);
      session.send(Frame.data, 0, stream, 'x'.repeat(1000));
      session.headers(stream, [['grpc-status', '0']], true);
    },
    'an informational head that ends the stream': (session, stream) =>
      session.headers(stream, [[':status', '103']], true),
    'a status of four digits': (session, stream) => session.headers(stream, [[':status', '2000']], true),
    'two statuses': (session, stream) => session.headers(stream, [...okHead, [':status', '200']], true),
    'a status after other fields': (session, stream) =>
      session.headers(
        stream,
        [
          ['content-type', 'application/grpc'],
          [':status', '200'],
        ],
        true,
      ),
    'blanks before a value': (session, stream) => session.headers(stream, [...okHead, ['x-a', ' b']], true),
    'a length, and no body': (session, stream) => session.headers(stream, [...okHead, ['content-length', '5']], true),
    'WINDOW_UPDATE of zero': (session, stream) => session.send(Frame.windowUpdate, 0, stream, uint32(0)),
    'a head whose fields expand': (session, stream) => {
      // One entry of 4,000 bytes, then its index 8,000 times.
      const block = Buffer.concat([
        Buffer.from([0x88]),
        Buffer.from([0x40]),
        encodeFields([['x-bomb', 'y'.repeat(4000)]]).subarray(1),
        Buffer.alloc(8000, 0xbe),
      ]);
      session.send(Frame.headers, headersFlags, stream, block);
    },
  };
  for (const [name, attack] of Object.entries(attacks)) {
    it(`gets 502 for ${name}; its session continues`, async () => {
      await using trial = await startTrial(firstOnly(attack));
      assert.equal((await trial.call()).status, 502);
      assert.equal(String((await trial.call()).body), 'session 1');
    });
  }
});

describe('a backend that breaks the rules of a connection', () => {
  const attacks: Readonly<Record<string, (session: RawSession, stream: number) => void>> = {
    'an invalid index': (session, stream) =>
      session.send(Frame.headers, headersFlags, stream, Buffer.from([0xff, 0x7f])),
    'a table larger than announced': (session, stream) =>
      session.send(Frame.headers, headersFlags, stream, Buffer.from([0x3f, 0xe2, 0x1f, 0x88])),
    PUSH_PROMISE: (session, stream) =>
      session.send(
        Frame.pushPromise,
        Flag.endHeaders,
        stream,
        Buffer.concat([
          uint32(2),
          encodeFields([
            [':method', 'GET'],
            [':path', '/'],
            [':scheme', 'http'],
          ]),
        ]),
      ),
    'an answer to no request': (session) => session.headers(99, okHead, true),
    'a stream of its own': (session) => session.headers(2, okHead, true),
    'DATA on stream 0': (session) => session.send(Frame.data, 0, 0, 'x'),
    'another frame within a header block': (session, stream) => {
      session.send(Frame.headers, 0, stream, encodeFields(okHead));
      session.send(Frame.data, 0, stream, 'x');
    },
    'a header block without an end': (session, stream) => {
      session.send(Frame.headers, 0, stream, encodeFields(okHead));
      for (let at = 0; at < 5000; at++) session.send(Frame.continuation, 0, stream, encodeFields([['x-a', 'b']]));
    },
    'an invalid size of a window': (session) =>
      session.send(Frame.settings, 0, 0, settingsPayload([initialWindowSize, 2 ** 31])),
    'windows that overflow': (session) => session.send(Frame.windowUpdate, 0, 0, uint32(2 ** 31 - 1)),
    'a frame that is too large': (session, stream) => session.send(Frame.data, 0, stream, 'x'.repeat(20_000)),
    'many empty DATA frames': (session, stream) => {
      session.headers(stream, okHead);
      for (let at = 0; at < 5000; at++) session.send(Frame.data, 0, stream);
    },
  };
  for (const [name, attack] of Object.entries(attacks)) {
    it(`loses it for ${name}; the next call is served`, async () => {
      await using trial = await startTrial(firstOnly(attack));
      const answer = await trial.call();
      assert.ok(answer.status === 502 || answer.code !== 0, `${answer.status}`);
      assert.equal(String((await trial.call()).body), 'session 2');
      await until(() => trial.backend.sessions[0]?.socket.destroyed === true);
    });
  }
});

describe('the body of an answer', () => {
  for (const [name, end] of [
    [
      'the stream was reset without an error',
      (session: RawSession, stream: number) => session.send(Frame.rstStream, 0, stream, uint32(Code.noError)),
    ],
    ['the backend closed the session', (session: RawSession) => session.socket.end()],
    ['the backend broke the session', (session: RawSession) => session.send(Frame.data, 0, 0, 'x')],
  ] as const)
    it(`is whole although the client reads it after ${name}`, async () => {
      for (const requestEnds of [true, false]) {
        await using trial = await startTrial(
          firstOnly((session, stream) => {
            session.headers(stream, okHead);
            for (let at = 0; at < 6; at++) session.send(Frame.data, 0, stream, `${at}`.repeat(16_000));
            session.headers(stream, [['grpc-status', '0']], true);
            end(session, stream);
          }),
        );
        // Its window makes the gateway stop reading.
        const session = connect(`http://127.0.0.1:${rig.port}`, { settings: { initialWindowSize: 10_000 } });
        await using client = new Http2Client(session);
        const stream = client.open('/a.B/C', call, false);
        stream.write('xxxxx');
        if (requestEnds) stream.end();
        await new Promise((resolve) => stream.once('response', resolve));
        if (!name.startsWith('the stream')) await until(() => trial.backend.sessions[0]?.socket.destroyed === true);
        const answer = await readAnswer(stream);
        assert.equal(answer.body.length, 96_000, `request ends: ${requestEnds}`);
      }
    });

  it('is the same wherever its frames are split, with padding and priorities', async () => {
    const frames = (stream: number): Buffer =>
      Buffer.concat([
        frame(
          Frame.headers,
          0,
          stream,
          encodeFields([
            [':status', '103'],
            ['link', '</a>'],
          ]).subarray(0, 4),
        ),
        frame(Frame.continuation, 0, stream),
        frame(
          Frame.continuation,
          Flag.endHeaders,
          stream,
          encodeFields([
            [':status', '103'],
            ['link', '</a>'],
          ]).subarray(4),
        ),
        frame(
          Frame.headers,
          Flag.endHeaders | Flag.padded | Flag.priority,
          stream,
          Buffer.concat([Buffer.from([3]), uint32(0), Buffer.from([9]), encodeFields(okHead), Buffer.alloc(3)]),
        ),
        frame(Frame.data, Flag.padded, stream, '\x02some \0\0'),
        frame(0xfa, 0xff, stream, 'unknown'),
        frame(Frame.data, 0, stream),
        frame(Frame.data, 0, stream, 'text'),
        frame(
          Frame.headers,
          headersFlags,
          stream,
          encodeFields([
            ['grpc-status', '0'],
            ['x-last', 'trailer'],
          ]),
        ),
      ]);
    const { length } = frames(1);
    let at = 0;
    await using trial = await startTrial({
      request: (session, stream) => {
        const bytes = frames(stream);
        session.socket.write(bytes.subarray(0, at), () => setImmediate(() => session.socket.write(bytes.subarray(at))));
      },
    });
    for (at = 1; at < length; at++) {
      const answer = await trial.call();
      assert.equal(`${answer.body}`, 'some text', `split at ${at}`);
      assert.equal(answer.trailers['x-last'], 'trailer');
    }
    assert.equal(trial.backend.sessions.length, 1);
  });
});

describe('the body of a request', () => {
  it('waits for the window of the backend until the send timeout', async () => {
    await using trial = await startTrial(
      { ...firstOnly(() => {}), hello: frame(Frame.settings, 0, 0, settingsPayload([initialWindowSize, 0])) },
      { write_timeout: 200, read_timeout: 60_000 },
    );
    const started = performance.now();
    assert.equal((await trial.call()).status, 504);
    assert.ok(performance.now() - started < 10_000);
  });

  it('arrives whole through windows that open byte by byte, close and shrink', async () => {
    let received = 0;
    await using trial = await startTrial({
      hello: frame(Frame.settings, 0, 0, settingsPayload([initialWindowSize, 0])),
      request: (session, stream) => session.send(Frame.windowUpdate, 0, stream, uint32(1)),
      frame: (session, type, stream, flags, length) => {
        if (type !== Frame.data) return;
        received += length;
        if (received === 1) session.send(Frame.settings, 0, 0, settingsPayload([initialWindowSize, 100]));
        if (received === 101) {
          session.send(Frame.settings, 0, 0, settingsPayload([initialWindowSize, 10]));
          session.send(Frame.windowUpdate, 0, stream, uint32(90));
          session.send(Frame.windowUpdate, 0, stream, uint32(1));
        } else if (received > 101) session.send(Frame.windowUpdate, 0, stream, uint32(997));
        if ((flags & Flag.endStream) !== 0) session.answer(stream, `${received}`);
      },
    });
    assert.equal(String((await trial.call('x'.repeat(50_000))).body), '50000');
  });
});
