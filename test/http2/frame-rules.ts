import {
  Code,
  encodeFields,
  Flag,
  Frame,
  frame,
  getFields,
  preface,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';

/**
 * Rules of RFC 9113 by section, those that test/conformance does not have: what h2spec asks, without h2spec. A rule is kept when the
 * stream is answered, only the stream is reset, or the connection ends with a code.
 */
export type Expected =
  | { readonly kind: 'served'; readonly stream: number; readonly status?: number }
  | { readonly kind: 'stream'; readonly stream: number; readonly codes: readonly number[] }
  | { readonly kind: 'connection'; readonly codes: readonly number[] };

export interface Rule {
  /** The preface is among the bytes. */
  readonly first: boolean;
  readonly bytes: readonly (Uint8Array | string)[];
  readonly expected: Expected;
}

const served = (stream = 1, status = 200): Expected => ({ kind: 'served', stream, status });
const reset = (stream: number, ...codes: readonly number[]): Expected => ({ kind: 'stream', stream, codes });
const ended = (...codes: readonly number[]): Expected => ({ kind: 'connection', codes });
const rule = (expected: Expected, ...bytes: readonly (Uint8Array | string)[]): Rule => ({
  first: bytes[0] === preface,
  bytes,
  expected,
});

const whole = Flag.endStream | Flag.endHeaders;
const good = encodeFields(getFields('/good'));
const never = encodeFields(getFields('/never'));
const post = encodeFields(getFields('/good').map(([name, value]) => [name, name === ':method' ? 'POST' : value]));
export const get = (stream = 1): Buffer => frame(Frame.headers, whole, stream, good);
export const wait = (stream = 1): Buffer => frame(Frame.headers, whole, stream, never);
export const open = (stream = 1): Buffer => frame(Frame.headers, Flag.endHeaders, stream, post);
const cancel = (stream = 1): Buffer => frame(Frame.rstStream, 0, stream, uint32(Code.cancel));
const priority = (dependency: number, weight = 15): Buffer =>
  Buffer.concat([uint32(dependency), Buffer.from([weight])]);
/** Answered with the same bytes. */
export const ping = frame(Frame.ping, 0, 0, '12345678');
const padded = (block: Uint8Array, length: number, first: Uint8Array = new Uint8Array(0)): Buffer =>
  Buffer.concat([Buffer.from([length]), first, block, Buffer.alloc(length)]);

export const frameRules: Readonly<Record<string, Rule>> = {
  // 3.4
  'the first frame is not SETTINGS': rule(ended(Code.protocolError), preface, ping),
  'the first frame is an acknowledgement': rule(ended(Code.protocolError), preface, frame(Frame.settings, Flag.ack, 0)),
  // 4.1
  'a frame of an unknown type': rule(served(), frame(0x99, 0xff, 0, 'anything'), get()),
  'a frame of an unknown type on an idle stream': rule(served(), frame(0x99, 0xff, 1, 'anything'), get()),
  'undefined flags': rule(
    served(),
    frame(Frame.ping, 0xfe, 0, '12345678'),
    frame(Frame.headers, whole | 0xd0, 1, good),
  ),
  'the reserved bit of a stream identifier': rule(served(), frame(Frame.headers, whole, 0x80000001, good)),
  'the reserved bit of a window increment': rule(served(), get(), frame(Frame.windowUpdate, 0, 0, uint32(0x80000001))),
  // 4.2
  'DATA of 16 384 bytes': rule(served(), open(), frame(Frame.data, Flag.endStream, 1, Buffer.alloc(16_384))),
  'HEADERS larger than agreed': rule(
    ended(Code.frameSizeError),
    frame(Frame.headers, whole, 1, Buffer.concat([good, encodeFields([['x-a', 'v'.repeat(16_400)]])])),
  ),
  'SETTINGS larger than agreed': rule(
    ended(Code.frameSizeError, Code.enhanceYourCalm),
    frame(Frame.settings, 0, 0, Buffer.alloc(16_386)),
  ),
  'an unknown frame larger than agreed': rule(ended(Code.frameSizeError), frame(0x99, 0, 0, Buffer.alloc(16_385))),
  'a frame whose length is the largest': rule(
    ended(Code.frameSizeError),
    Buffer.from([0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 1]),
  ),
  // 4.3
  'PRIORITY within a header block': rule(
    ended(Code.protocolError),
    frame(Frame.headers, Flag.endStream, 1, good),
    frame(Frame.priority, 0, 1, priority(0)),
    frame(Frame.continuation, Flag.endHeaders, 1),
  ),
  'HEADERS of another stream within a header block': rule(
    ended(Code.protocolError),
    frame(Frame.headers, Flag.endStream, 1, good),
    get(3),
  ),
  'an unknown frame within a header block': rule(
    ended(Code.protocolError),
    frame(Frame.headers, Flag.endStream, 1, good),
    frame(0x99, 0, 1, 'x'),
  ),
  'CONTINUATION of another stream': rule(
    ended(Code.protocolError),
    frame(Frame.headers, Flag.endStream, 1, good),
    frame(Frame.continuation, Flag.endHeaders, 3),
  ),
  // 5.1
  'WINDOW_UPDATE of an idle stream': rule(ended(Code.protocolError), frame(Frame.windowUpdate, 0, 1, uint32(100))),
  'CONTINUATION of an idle stream': rule(
    ended(Code.protocolError),
    frame(Frame.continuation, Flag.endHeaders, 1, good),
  ),
  'PRIORITY of an idle stream': rule(served(1), frame(Frame.priority, 0, 5, priority(0)), get(1)),
  'HEADERS of a half-closed stream': rule(ended(Code.streamClosed), wait(), get()),
  'CONTINUATION of a half-closed stream': rule(
    ended(Code.streamClosed, Code.protocolError),
    wait(),
    frame(Frame.continuation, Flag.endHeaders, 1, good),
  ),
  'WINDOW_UPDATE of a half-closed stream': rule(
    served(3),
    wait(),
    frame(Frame.windowUpdate, 0, 1, uint32(100)),
    get(3),
  ),
  'PRIORITY of a half-closed stream': rule(served(3), wait(), frame(Frame.priority, 0, 1, priority(0)), get(3)),
  'RST_STREAM of a half-closed stream': rule(served(3), wait(), cancel(), get(3)),
  'DATA after RST_STREAM': rule(
    reset(1, Code.streamClosed),
    open(),
    cancel(),
    frame(Frame.data, Flag.endStream, 1, 'x'),
  ),
  'HEADERS after RST_STREAM': rule(reset(1, Code.streamClosed), open(), cancel(), get()),
  'CONTINUATION after RST_STREAM': rule(
    ended(Code.protocolError, Code.streamClosed),
    open(),
    cancel(),
    frame(Frame.continuation, 4, 1, good),
  ),
  'WINDOW_UPDATE after RST_STREAM': rule(
    served(3),
    open(),
    cancel(),
    frame(Frame.windowUpdate, 0, 1, uint32(1)),
    get(3),
  ),
  'RST_STREAM twice': rule(served(3), open(), cancel(), cancel(), get(3)),
  'PRIORITY after RST_STREAM': rule(served(3), open(), cancel(), frame(Frame.priority, 0, 1, priority(0)), get(3)),
  // 5.1.1
  'a stream identifier smaller than the last': rule(ended(Code.protocolError, Code.streamClosed), wait(5), get(3)),
  'a stream identifier of 0': rule(ended(Code.protocolError), frame(Frame.headers, whole, 0, good)),
  'the highest stream identifier': rule(served(0x7fffffff), get(0x7fffffff)),
  'a stream behind the highest': rule(ended(Code.protocolError, Code.streamClosed), get(0x7fffffff), get(1)),
  // 5.3
  'HEADERS with a priority': rule(
    served(),
    frame(Frame.headers, whole | Flag.priority, 1, Buffer.concat([priority(0), good])),
  ),
  'HEADERS with an exclusive dependency': rule(
    served(3),
    wait(),
    frame(Frame.headers, whole | Flag.priority, 3, Buffer.concat([priority(0x80000001, 255), good])),
  ),
  'HEADERS too short for their priority': rule(
    ended(Code.frameSizeError, Code.protocolError),
    frame(Frame.headers, whole | Flag.priority, 1, 'abc'),
  ),
  // 6.1
  'padded DATA': rule(
    served(),
    open(),
    frame(Frame.data, Flag.endStream | Flag.padded, 1, padded(Buffer.from('abc'), 255)),
  ),
  'DATA of padding only': rule(
    served(),
    open(),
    frame(Frame.data, Flag.endStream | Flag.padded, 1, padded(Buffer.alloc(0), 10)),
  ),
  'padding as long as its frame': rule(
    ended(Code.protocolError),
    open(),
    frame(Frame.data, Flag.padded, 1, Buffer.from([3, 0, 0])),
  ),
  'padded DATA without the length': rule(
    ended(Code.frameSizeError, Code.protocolError),
    open(),
    frame(Frame.data, Flag.padded, 1),
  ),
  // 6.2
  'padded HEADERS': rule(served(), frame(Frame.headers, whole | Flag.padded, 1, padded(good, 255))),
  'padded HEADERS with a priority': rule(
    served(),
    frame(Frame.headers, whole | Flag.padded | Flag.priority, 1, padded(good, 20, priority(0))),
  ),
  'HEADERS of padding only': rule(
    served(),
    frame(Frame.headers, Flag.endStream | Flag.padded, 1, padded(Buffer.alloc(0), 20)),
    frame(Frame.continuation, 4, 1, good),
  ),
  'padding of HEADERS longer than its frame': rule(
    ended(Code.protocolError),
    frame(Frame.headers, whole | Flag.padded, 1, Buffer.from([200, 0x82])),
  ),
  // 6.3
  'PRIORITY on stream 0': rule(ended(Code.protocolError), frame(Frame.priority, 0, 0, priority(1))),
  'PRIORITY of a wrong length': rule(reset(1, Code.frameSizeError), wait(), frame(Frame.priority, 0, 1, 'abcd')),
  // 6.4
  'RST_STREAM on stream 0': rule(ended(Code.protocolError), cancel(0)),
  'RST_STREAM of a wrong length': rule(ended(Code.frameSizeError), wait(), frame(Frame.rstStream, 0, 1, 'abc')),
  'RST_STREAM with an unknown code': rule(served(3), wait(), frame(Frame.rstStream, 0, 1, uint32(0xff)), get(3)),
  // 6.5
  'SETTINGS on a stream': rule(ended(Code.protocolError), frame(Frame.settings, 0, 1)),
  'an acknowledgement with a payload': rule(
    ended(Code.frameSizeError),
    frame(Frame.settings, Flag.ack, 0, settingsPayload([3, 1])),
  ),
  'ENABLE_PUSH of 2': rule(ended(Code.protocolError), frame(Frame.settings, 0, 0, settingsPayload([2, 2]))),
  'MAX_FRAME_SIZE of 2^24': rule(ended(Code.protocolError), frame(Frame.settings, 0, 0, settingsPayload([5, 2 ** 24]))),
  'MAX_FRAME_SIZE of 16 383': rule(
    ended(Code.protocolError),
    frame(Frame.settings, 0, 0, settingsPayload([5, 16_383])),
  ),
  'ENABLE_CONNECT_PROTOCOL of a client': rule(served(), frame(Frame.settings, 0, 0, settingsPayload([8, 1])), get()),
  'an unknown setting': rule(served(), frame(Frame.settings, 0, 0, settingsPayload([0xff, 0xffffffff])), get()),
  'every setting twice': rule(
    served(),
    frame(Frame.settings, 0, 0, settingsPayload([1, 0], [2, 1], [3, 0], [4, 1], [5, 20_000], [6, 1])),
    frame(Frame.settings, 0, 0, settingsPayload([1, 100], [2, 0], [3, 9], [4, 100], [5, 16_384], [6, 9000])),
    get(),
  ),
  // 6.7
  'PING on a stream': rule(ended(Code.protocolError), frame(Frame.ping, 0, 1, '12345678')),
  'PING of 7 bytes': rule(ended(Code.frameSizeError), frame(Frame.ping, 0, 0, '1234567')),
  'PING of 9 bytes': rule(ended(Code.frameSizeError), frame(Frame.ping, 0, 0, '123456789')),
  'an answer to no PING': rule(served(), frame(Frame.ping, Flag.ack, 0, '12345678'), get()),
  // 6.8
  'GOAWAY on a stream': rule(ended(Code.protocolError), frame(Frame.goaway, 0, 1, Buffer.alloc(8))),
  'GOAWAY too short': rule(ended(Code.frameSizeError), frame(Frame.goaway, 0, 0, Buffer.alloc(7))),
  // 6.9
  'WINDOW_UPDATE of 0 on a stream': rule(
    reset(1, Code.protocolError),
    wait(),
    frame(Frame.windowUpdate, 0, 1, uint32(0)),
  ),
  'WINDOW_UPDATE of 3 bytes': rule(ended(Code.frameSizeError), frame(Frame.windowUpdate, 0, 0, 'abc')),
  'WINDOW_UPDATE of 3 bytes on a stream': rule(
    ended(Code.frameSizeError),
    wait(),
    frame(Frame.windowUpdate, 0, 1, 'abc'),
  ),
  'a window of a stream that is too large': rule(
    ended(Code.flowControlError),
    wait(),
    frame(Frame.windowUpdate, 0, 1, uint32(0x7fffffff)),
  ),
  'a window that SETTINGS make too large': rule(
    ended(Code.flowControlError),
    wait(),
    frame(Frame.windowUpdate, 0, 1, uint32(0x7fff0000)),
    frame(Frame.settings, 0, 0, settingsPayload([4, 0x7fffffff])),
  ),
  // 6.10
  'many CONTINUATION': rule(
    served(),
    frame(Frame.headers, Flag.endStream, 1, good.subarray(0, 5)),
    ...Array.from({ length: 10 }, (_, at) => frame(Frame.continuation, 0, 1, good.subarray(5 + at, 6 + at))),
    frame(Frame.continuation, Flag.endHeaders, 1, good.subarray(15)),
  ),
  'CONTINUATION on stream 0': rule(
    ended(Code.protocolError),
    frame(Frame.headers, Flag.endStream, 1, good),
    frame(Frame.continuation, 4, 0),
  ),
  'CONTINUATION behind END_HEADERS': rule(ended(Code.protocolError), open(), frame(Frame.continuation, 4, 1, good)),
  'CONTINUATION behind DATA': rule(
    ended(Code.protocolError),
    open(),
    frame(Frame.data, 0, 1, 'x'),
    frame(Frame.continuation, 4, 1, good),
  ),
  // 7
  'GOAWAY with an unknown code while a request is in flight': rule(
    served(),
    get(),
    frame(Frame.goaway, 0, 0, Buffer.concat([uint32(0), uint32(0xff)])),
  ),
  // 8.1
  'trailers that do not end the stream': rule(
    reset(1, Code.protocolError),
    open(),
    frame(Frame.headers, Flag.endHeaders, 1, encodeFields([['x-a', 'b']])),
  ),
  'trailers with a pseudo-header field': rule(
    reset(1, Code.protocolError),
    open(),
    frame(Frame.headers, whole, 1, encodeFields([[':method', 'GET']])),
  ),
  'a length above the body': rule(
    reset(1, Code.protocolError),
    frame(Frame.headers, Flag.endHeaders, 1, Buffer.concat([post, encodeFields([['content-length', '4']])])),
    frame(Frame.data, 1, 1, 'abc'),
  ),
  'a length below several DATA': rule(
    reset(1, Code.protocolError),
    frame(Frame.headers, Flag.endHeaders, 1, Buffer.concat([post, encodeFields([['content-length', '4']])])),
    frame(Frame.data, 0, 1, 'abc'),
    frame(Frame.data, 1, 1, 'abc'),
  ),
  'a repeated :method': rule(
    reset(1, Code.protocolError),
    frame(Frame.headers, whole, 1, Buffer.concat([encodeFields([[':method', 'GET']]), good])),
  ),
  'a repeated :scheme': rule(
    reset(1, Code.protocolError),
    frame(Frame.headers, whole, 1, Buffer.concat([encodeFields([[':scheme', 'http']]), good])),
  ),
  'an empty :path': rule(reset(1, Code.protocolError), frame(Frame.headers, whole, 1, encodeFields(getFields('')))),
  // 8.4
  'PUSH_PROMISE of an even stream': rule(
    ended(Code.protocolError),
    wait(),
    frame(Frame.pushPromise, 4, 2, Buffer.concat([uint32(4), good])),
  ),
};
