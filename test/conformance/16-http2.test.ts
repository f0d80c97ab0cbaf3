import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import {
  Code,
  encodeFields,
  type Fields,
  Flag,
  Frame,
  type FrameClient,
  frame,
  getFields,
  openFrames,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';
import { type Http2Rig, startHttp2Rig } from '../support/http2-rig.ts';
import { answer, answerEach } from '../support/raw-backend.ts';

/** Case 16: malformed HTTP/2 frames and heads. Other streams of the session and other connections are still served. */
const script = answerEach((request) => (request.target.startsWith('/never') ? null : answer('ok')));

function fields(...pairs: Fields): Fields {
  return pairs;
}

function request(stream: number, list: Fields, flags: number = Flag.endStream | Flag.endHeaders): Buffer {
  return frame(Frame.headers, flags, stream, encodeFields(list));
}

const method = [':method', 'GET'] as const;
const scheme = [':scheme', 'http'] as const;
const authority = [':authority', 'example.com'] as const;
const path = [':path', '/bad'] as const;

/** Heads that are malformed (RFC 9113 8.1.1). */
const malformed: Readonly<Record<string, Fields>> = {
  'an upper-case name': getFields('/bad', [['X-Upper', '1']]),
  connection: getFields('/bad', [['connection', 'close']]),
  'keep-alive': getFields('/bad', [['keep-alive', 'timeout=5']]),
  'proxy-connection': getFields('/bad', [['proxy-connection', 'close']]),
  'transfer-encoding': getFields('/bad', [['transfer-encoding', 'chunked']]),
  upgrade: getFields('/bad', [['upgrade', 'websocket']]),
  'te other than trailers': getFields('/bad', [['te', 'gzip']]),
  'no :method': fields(scheme, authority, path),
  'no :scheme': fields(method, authority, path),
  'no :path': fields(method, scheme, authority),
  'no :authority and no host': fields(method, scheme, path),
  'a repeated :path': fields(method, scheme, authority, path, [':path', '/other']),
  'a repeated :authority': fields(method, scheme, authority, path, [':authority', 'example.com']),
  'a pseudo-header field behind others': fields(method, scheme, ['accept', '*/*'], authority, path),
  'an unknown pseudo-header field': fields(method, scheme, authority, path, [':evil', '1']),
  ':status in a request': fields(method, scheme, authority, path, [':status', '200']),
  ':protocol without CONNECT': fields(method, [':protocol', 'websocket'], scheme, authority, path),
  'a method with a space': fields([':method', 'GET /x HTTP/1.1'], scheme, authority, path),
  'a scheme of another protocol': fields(method, [':scheme', 'ftp'], authority, path),
  'an empty path': getFields(''),
  'a relative path': getFields('bad'),
  'an absolute URL as path': getFields('http://example.com/bad'),
  'an asterisk without OPTIONS': getFields('*'),
  'a path with a space': getFields('/bad x'),
  'a path with CR and LF': getFields('/bad HTTP/1.1\r\nx-evil: 1\r\n'),
  'a path with a fragment': getFields('/bad#x'),
  'a path with NUL': getFields('/bad\0'),
  'an :authority with a comma': fields(method, scheme, [':authority', 'a.com,b.com'], path),
  'an :authority with CR and LF': fields(method, scheme, [':authority', 'a.com\r\nx-evil: 1'], path),
  'an :authority with a user part': fields(method, scheme, [':authority', 'user@a.com'], path),
  'an :authority with a path': fields(method, scheme, [':authority', 'a.com/x'], path),
  'a host that differs from :authority': getFields('/bad', [['host', 'other.com']]),
  'two hosts': fields(method, scheme, path, ['host', 'a.com'], ['host', 'b.com']),
  CONNECT: fields([':method', 'CONNECT'], [':authority', 'example.com:443']),
  TRACE: fields([':method', 'TRACE'], scheme, authority, path),
  'a tunnel of another protocol': fields([':method', 'CONNECT'], [':protocol', 'connect-udp'], scheme, authority, path),
  'a WebSocket that ends at once': fields([':method', 'CONNECT'], [':protocol', 'websocket'], scheme, authority, path),
  'a length that is no number': getFields('/bad', [['content-length', '+5']]),
  'two lengths': getFields('/bad', [
    ['content-length', '5'],
    ['content-length', '5'],
  ]),
  'a length without a body': getFields('/bad', [['content-length', '5']]),
  'more fields than the limit': getFields(
    '/bad',
    Array.from({ length: 210 }, (_, at) => [`x-${at}`, 'v'] as const),
  ),
  'far more fields than the limit': getFields(
    '/bad',
    Array.from({ length: 900 }, (_, at) => [`x-${at}`, 'v'] as const),
  ),
};
/** Statuses that a malformed request may get before its stream ends. */
const refusals: readonly number[] = [400, 405, 501];

/** Invalid fields. The gateway may drop them instead of refusing the head; no byte of them is forwarded. */
const impossible: Readonly<Record<string, readonly [string, string]>> = {
  'CR and LF in a value': ['x-bad', 'a\r\nx-evil: 1'],
  'LF in a value': ['x-bad', 'a\nx-evil: 1'],
  'CR in a value': ['x-bad', 'a\rx-evil: 1'],
  'NUL in a value': ['x-bad', 'a\0x-evil: 1'],
  'CR and LF in a name': ['x-bad: 1\r\nx-evil', '1'],
  'a colon in a name': ['x-evil: 1', '1'],
  'a space in a name': ['x-evil ', '1'],
  'an empty name': ['', 'x-evil'],
};

describe('malformed HTTP/2 requests', () => {
  let rig: Http2Rig;
  before(async () => {
    rig = await startHttp2Rig({ script });
  });
  after(() => rig.close());

  for (const [what, list] of Object.entries(malformed)) {
    it(`are refused: ${what}`, async () => {
      using client = await openFrames(rig.port);
      client.write(request(1, list));
      const refused = await client.finished(1);
      if (refused.code === null) assert.ok(refusals.includes(refused.status), `answered ${refused.status}`);
      else
        assert.ok(refused.code === Code.protocolError || refused.code === Code.enhanceYourCalm, `code ${refused.code}`);
      // The session continues.
      client.request(3, getFields('/good'));
      assert.equal((await client.finished(3)).status, 200);
      assert.ok(!rig.backend.requests.some((seen) => seen.target.includes('bad')), 'the backend saw it');
      assert.ok(!rig.backend.received.includes('x-evil'));
    });
  }

  for (const [what, field] of Object.entries(impossible)) {
    it(`do not reach the backend with ${what}`, async () => {
      using client = await openFrames(rig.port);
      client.write(request(1, getFields('/impossible', [field, ['x-good', '1']])));
      const record = await client.finished(1);
      if (record.status === 200) {
        const seen = rig.backend.requests.at(-1);
        assert.equal(seen?.target, '/impossible');
        assert.equal(seen?.get('x-good'), '1');
      } else assert.ok(record.code === Code.protocolError || record.status === 400);
      assert.ok(!rig.backend.received.includes('x-evil'), 'the backend saw it');
    });
  }

  it('get 400, 414 or a stream reset when their head is larger than the limit', async () => {
    using client = await openFrames(rig.port);
    const large = Array.from({ length: 12 }, (_, at) => [`x-${at}`, 'v'.repeat(4000)] as const);
    writeLarge(client, 1, getFields('/bad', large));
    assert.equal((await client.finished(1)).status, 400);
    writeLarge(client, 3, getFields(`/bad${'x'.repeat(40_000)}`));
    assert.equal((await client.finished(3)).status, 414);
    writeLarge(
      client,
      5,
      getFields(
        '/bad',
        [...large, ...large].map(([name, value], at) => [`${name}-${at}`, value]),
      ),
    );
    const refused = await client.finished(5);
    assert.ok(client.closed || refused.code === Code.enhanceYourCalm || refused.status === 400);
  });

  it('are reset or lose their trailers when the trailers are invalid', async () => {
    const trailers: readonly Fields[] = [
      [[':path', '/evil']],
      [['connection', 'close']],
      [['x-bad', 'a\r\nx-evil: 1']],
    ];
    for (const list of trailers) {
      using client = await openFrames(rig.port);
      client.request(1, getFields('/trailers', [['te', 'trailers']]), false);
      client.write(frame(Frame.data, 0, 1, 'abc'), request(1, list));
      const record = await client.finished(1);
      assert.ok(record.status === 200 || record.code === Code.protocolError);
    }
    assert.ok(!rig.backend.received.includes('x-evil'));
    assert.ok(!rig.backend.received.includes('/evil'));
  });

  it('are reset, also at the backend, when the length differs from the declared one, and other streams continue', async () => {
    for (const [body, target] of [
      ['abc', '/length/short'],
      ['abcdefgh', '/length/long'],
    ] as const) {
      using client = await openFrames(rig.port);
      client.request(1, getFields('/other'), false);
      client.request(3, getFields(target, [['content-length', '5']]), false);
      client.write(frame(Frame.data, Flag.endStream, 3, body));
      assert.equal((await client.finished(3)).code, Code.protocolError);
      client.write(frame(Frame.data, Flag.endStream, 1, 'x'));
      assert.equal((await client.finished(1)).status, 200);
    }
    const whole = rig.backend.requests.filter((seen) => seen.target.startsWith('/length') && seen.complete);
    assert.equal(whole.length, 0, 'the backend saw a whole request');
  });
});

/** A head, split into as many frames as it needs. */
function writeLarge(client: FrameClient, stream: number, list: Fields): void {
  const block = encodeFields(list);
  for (let at = 0; at < block.byteLength; at += 16_384) {
    const last = at + 16_384 >= block.byteLength ? Flag.endHeaders : 0;
    const [type, flags] = at === 0 ? [Frame.headers, Flag.endStream | last] : [Frame.continuation, last];
    client.write(frame(type, flags, stream, block.subarray(at, at + 16_384)));
  }
}

/** Frames that end the session, and the error code that the RFC names. */
const connectionErrors: Readonly<
  Record<string, { readonly bytes: readonly Buffer[]; readonly codes: readonly number[] }>
> = {
  'DATA before HEADERS': { bytes: [frame(Frame.data, 1, 1, 'abc')], codes: [Code.protocolError] },
  'DATA on stream 0': { bytes: [frame(Frame.data, 1, 0, 'abc')], codes: [Code.protocolError] },
  'DATA behind the end of a stream': {
    bytes: [request(1, getFields('/never')), frame(Frame.data, 1, 1, 'abc')],
    codes: [Code.streamClosed],
  },
  'a stream of an even number': { bytes: [request(2, getFields('/'))], codes: [Code.protocolError] },
  PUSH_PROMISE: {
    bytes: [frame(Frame.pushPromise, Flag.endHeaders, 1, Buffer.concat([uint32(2), encodeFields(getFields('/'))]))],
    codes: [Code.protocolError],
  },
  'CONTINUATION without HEADERS': {
    bytes: [frame(Frame.continuation, 4, 1, encodeFields([['a', 'b']]))],
    codes: [Code.protocolError],
  },
  'a frame between HEADERS and CONTINUATION': {
    bytes: [request(1, getFields('/'), 0), frame(Frame.ping, 0, 0, '12345678')],
    codes: [Code.protocolError],
  },
  'RST_STREAM of a stream that was never opened': {
    bytes: [frame(Frame.rstStream, 0, 1, uint32(8))],
    codes: [Code.protocolError],
  },
  'WINDOW_UPDATE of 0': { bytes: [frame(Frame.windowUpdate, 0, 0, uint32(0))], codes: [Code.protocolError] },
  'a window of the connection above 2^31-1': {
    bytes: [frame(Frame.windowUpdate, 0, 0, uint32(0x7fffffff))],
    codes: [Code.flowControlError],
  },
  'a window of a stream above 2^31-1': {
    bytes: [request(1, getFields('/never')), frame(Frame.windowUpdate, 0, 1, uint32(0x7fffffff))],
    codes: [Code.flowControlError],
  },
  'an initial window above 2^31-1': {
    bytes: [frame(Frame.settings, 0, 0, settingsPayload([4, 0x80000000]))],
    codes: [Code.flowControlError],
  },
  'a smallest frame size': {
    bytes: [frame(Frame.settings, 0, 0, settingsPayload([5, 100]))],
    codes: [Code.protocolError],
  },
  'SETTINGS of an odd length': { bytes: [frame(Frame.settings, 0, 0, 'abc')], codes: [Code.frameSizeError] },
  'SETTINGS of a hundred entries': {
    bytes: [
      frame(Frame.settings, 0, 0, settingsPayload(...Array.from({ length: 100 }, (_, at) => [100 + at, 1] as const))),
    ],
    codes: [Code.enhanceYourCalm],
  },
  'a frame larger than agreed': {
    bytes: [request(1, getFields('/'), Flag.endHeaders), frame(Frame.data, 1, 1, Buffer.alloc(20_000))],
    codes: [Code.frameSizeError],
  },
  'padding longer than its frame': {
    bytes: [request(1, getFields('/'), Flag.endHeaders), frame(Frame.data, Flag.padded, 1, Buffer.from([200, 1, 2]))],
    codes: [Code.protocolError],
  },
  'a head that does not decode': {
    bytes: [frame(Frame.headers, 5, 1, Buffer.alloc(6, 0xff))],
    codes: [Code.compressionError],
  },
};

describe('frames that break an HTTP/2 session', () => {
  let rig: Http2Rig;
  let other: FrameClient;
  let stream = -1;
  before(async () => {
    rig = await startHttp2Rig({ script });
    other = await openFrames(rig.port);
  });
  after(async () => {
    other.close();
    await rig.close();
  });

  for (const [what, { bytes, codes }] of Object.entries(connectionErrors)) {
    it(`end it with the error code of the RFC: ${what}`, async () => {
      using client = await openFrames(rig.port);
      client.write(...bytes);
      const code = await client.refused();
      assert.ok(code !== null && codes.includes(code), `code ${code}`);
      await client.until(() => client.closed);
      stream += 2;
      other.request(stream, getFields('/good'));
      assert.equal((await other.finished(stream)).status, 200);
    });
  }
});
