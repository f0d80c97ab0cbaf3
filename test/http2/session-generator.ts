import { Random } from '../fuzz/random.ts';
import {
  addedField,
  hpackInteger,
  hpackString,
  huffmanBytes,
  indexedField,
  tableSize,
} from '../support/hpack-bytes.ts';
import {
  encodeFields,
  type Fields,
  Flag,
  Frame,
  frame,
  getFields,
  settingsPayload,
  uint32,
} from '../support/http2-frames.ts';

/** A session of valid traffic with at most one deviation. */
export interface GeneratedSession {
  /** Name of the deviation; '' without one. */
  readonly deviation: string;
  /** Frames behind preface and SETTINGS. */
  readonly frames: readonly Buffer[];
  /** Streams that the client has reset: whether they were answered before depends on time. */
  readonly raced: ReadonlySet<number>;
  /** The stream of the last request. It is valid. */
  readonly last: number;
}

/** What a deviation may refer to. */
interface State {
  readonly random: Random;
  /** The next stream that a client may open. */
  readonly next: number;
  /** A stream whose request is complete and is never answered. */
  readonly waiting: number;
  /** A stream whose request has no end yet, and is answered when it has one. */
  readonly open: number;
}

type Deviation = (state: State) => Buffer;

const whole = Flag.endStream | Flag.endHeaders;
const good = getFields('/good');
const goodBlock = encodeFields(good);
const priority = (dependency: number): Buffer => Buffer.concat([uint32(dependency), Buffer.from([7])]);

function head(stream: number, fields: Fields): Buffer {
  return frame(Frame.headers, whole, stream, encodeFields(fields));
}

function block(stream: number, ...parts: readonly Uint8Array[]): Buffer {
  return frame(Frame.headers, whole, stream, Buffer.concat(parts));
}

function replaced(name: string, ...values: readonly string[]): Fields {
  return good.flatMap(([key, value]) =>
    key === name ? values.map((each) => [key, each] as const) : [[key, value] as const],
  );
}

/** A length that is not `right`. */
function wrongLength(random: Random, right: number): Buffer {
  const length = random.int(20);
  return Buffer.alloc(length === right ? right + 1 : length);
}

export const deviations: Readonly<Record<string, Deviation>> = {
  'DATA on an idle stream': ({ random, next }) =>
    frame(Frame.data, random.int(2), next + 2 * random.int(5), Buffer.alloc(random.int(9))),
  'DATA on stream 0': ({ random }) => frame(Frame.data, random.int(2), 0, Buffer.alloc(random.int(9))),
  'DATA on a half-closed stream': ({ random, waiting }) =>
    frame(Frame.data, random.int(2), waiting, Buffer.alloc(1 + random.int(9))),
  'HEADERS on a half-closed stream': ({ waiting }) => head(waiting, good),
  'HEADERS of an even stream': ({ next }) => head(next + 1, good),
  'HEADERS on stream 0': () => head(0, good),
  'HEADERS of a lower stream': () => head(1, good),
  'HEADERS that depend on themselves': ({ next }) =>
    frame(Frame.headers, whole | Flag.priority, next, Buffer.concat([priority(next), goodBlock])),
  'HEADERS with padding that is too long': ({ random, next }) =>
    frame(Frame.headers, whole | Flag.padded, next, Buffer.from([10 + random.int(200), 0x82])),
  'DATA with padding that is too long': ({ random, open }) =>
    frame(Frame.data, Flag.padded, open, Buffer.from([10 + random.int(200), 1, 2])),
  'WINDOW_UPDATE of 0': () => frame(Frame.windowUpdate, 0, 0, uint32(0)),
  'WINDOW_UPDATE of 0 on a stream': ({ waiting }) => frame(Frame.windowUpdate, 0, waiting, uint32(0)),
  'WINDOW_UPDATE above the maximum': () => frame(Frame.windowUpdate, 0, 0, uint32(0x7fffffff)),
  'WINDOW_UPDATE above the maximum on a stream': ({ waiting }) =>
    frame(Frame.windowUpdate, 0, waiting, uint32(0x7fffffff)),
  'WINDOW_UPDATE on an idle stream': ({ next }) => frame(Frame.windowUpdate, 0, next, uint32(5)),
  'WINDOW_UPDATE of a wrong length': ({ random, waiting }) =>
    frame(Frame.windowUpdate, 0, random.pick([0, waiting]), wrongLength(random, 4)),
  'RST_STREAM on an idle stream': ({ random, next }) => frame(Frame.rstStream, 0, next, uint32(random.int(15))),
  'RST_STREAM on stream 0': () => frame(Frame.rstStream, 0, 0, uint32(8)),
  'RST_STREAM of a wrong length': ({ random, waiting }) => frame(Frame.rstStream, 0, waiting, wrongLength(random, 4)),
  'SETTINGS of a wrong length': ({ random }) =>
    frame(Frame.settings, 0, 0, Buffer.alloc(6 * random.int(4) + 1 + random.int(5))),
  'SETTINGS on a stream': ({ waiting }) => frame(Frame.settings, 0, waiting),
  'SETTINGS with ACK and a payload': () => frame(Frame.settings, Flag.ack, 0, settingsPayload([3, 9])),
  'SETTINGS with a window above the maximum': ({ random }) =>
    frame(Frame.settings, 0, 0, settingsPayload([4, 0x80000000 + random.int(99)])),
  'SETTINGS with an impossible frame size': ({ random }) =>
    frame(Frame.settings, 0, 0, settingsPayload([5, random.pick([0, 16_383, 2 ** 24, 0xffffffff])])),
  'SETTINGS with an impossible push': ({ random }) =>
    frame(Frame.settings, 0, 0, settingsPayload([2, 2 + random.int(99)])),
  'PING of a wrong length': ({ random }) => frame(Frame.ping, random.int(2), 0, wrongLength(random, 8)),
  'PING on a stream': ({ waiting }) => frame(Frame.ping, 0, waiting, '12345678'),
  'GOAWAY on a stream': ({ waiting }) => frame(Frame.goaway, 0, waiting, Buffer.alloc(8)),
  'GOAWAY that is too short': ({ random }) => frame(Frame.goaway, 0, 0, Buffer.alloc(random.int(8))),
  'PRIORITY on stream 0': () => frame(Frame.priority, 0, 0, priority(1)),
  'PRIORITY of a wrong length': ({ random, waiting }) => frame(Frame.priority, 0, waiting, wrongLength(random, 5)),
  'PRIORITY on itself': ({ waiting }) => frame(Frame.priority, 0, waiting, priority(waiting)),
  'CONTINUATION alone': ({ random, next, waiting }) =>
    frame(Frame.continuation, Flag.endHeaders, random.pick([0, next, waiting]), goodBlock),
  'a frame within a header block': ({ random, next, waiting }) =>
    Buffer.concat([
      frame(Frame.headers, Flag.endStream, next, goodBlock.subarray(0, random.int(goodBlock.byteLength))),
      frame(
        random.pick([Frame.data, Frame.headers, Frame.rstStream, Frame.ping, Frame.windowUpdate, 0x42]),
        0,
        random.pick([0, next, waiting]),
        '1234',
      ),
    ]),
  PUSH_PROMISE: ({ next, waiting }) =>
    frame(Frame.pushPromise, Flag.endHeaders, waiting, Buffer.concat([uint32(next + 1), goodBlock])),
  'a frame that is too large': ({ random, open, next }) =>
    random.once(2)
      ? frame(Frame.data, 0, open, Buffer.alloc(16_385))
      : frame(Frame.headers, whole, next, Buffer.alloc(16_385, 0x82)),
  'index 0': ({ next }) => block(next, goodBlock, Buffer.from([0x80])),
  'an index above the tables': ({ random, next }) => block(next, goodBlock, indexedField(128 + random.int(9_999))),
  'a table size above the maximum': ({ random, next }) => block(next, tableSize(4_097 + random.int(9_999)), goodBlock),
  'a table size behind a field': ({ random, next }) => block(next, goodBlock, tableSize(random.int(4_096))),
  'a header block that is cut off': ({ random, next }) =>
    block(next, goodBlock, Buffer.from([0]), hpackString('x-a'), Buffer.from([20 + random.int(90)]), Buffer.alloc(5)),
  'Huffman: EOS': ({ next }) =>
    block(next, goodBlock, Buffer.from([0]), hpackString('x-a'), huffmanBytes(0xff, 0xff, 0xff, 0xff)),
  'Huffman: wrong padding': ({ random, next }) =>
    block(next, goodBlock, Buffer.from([0]), hpackString('x-a'), huffmanBytes(random.pick([0x18, 0x1e]))),
  'an integer that is too large': ({ next }) => block(next, goodBlock, hpackInteger(0x80, 7, 2 ** 40)),
  'an upper-case name': ({ next }) => head(next, [...good, ['X-Upper', 'v']]),
  'a field of the connection': ({ random, next }) =>
    head(next, [
      ...good,
      [random.pick(['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']), 'x'],
    ]),
  'te other than trailers': ({ next }) => head(next, [...good, ['te', 'gzip']]),
  'a missing pseudo-header field': ({ random, next }) =>
    head(next, replaced(random.pick([':method', ':scheme', ':path']))),
  'a repeated pseudo-header field': ({ random, next }) =>
    head(next, replaced(random.pick([':method', ':scheme', ':path', ':authority']), 'GET', 'GET')),
  'an unknown pseudo-header field': ({ random, next }) =>
    head(next, [[random.pick([':evil', ':status', ':']), '200'], ...good]),
  'a pseudo-header field behind others': ({ next }) => head(next, [['x-a', 'b'], ...good]),
  'an empty path': ({ next }) => head(next, replaced(':path', '')),
  'a field with a control byte': ({ random, next }) =>
    head(next, [...good, ['x-a', `a${random.pick(['\r', '\n', '\0'])}b`]]),
  'a name with an impossible byte': ({ random, next }) =>
    head(next, [...good, [`x${random.pick([' ', ':', '\n', '(', '\x80'])}a`, 'b']]),
  'a length that is no number': ({ random, next }) =>
    head(next, [...good, ['content-length', random.pick(['+1', 'x', '1,1', '-1', ''])]]),
  'a length above the body': ({ random, next }) => head(next, [...good, ['content-length', `${1 + random.int(99)}`]]),
  'trailers that do not end the stream': ({ open }) =>
    frame(Frame.headers, Flag.endHeaders, open, encodeFields([['x-a', 'b']])),
  'trailers with a pseudo-header field': ({ open }) =>
    frame(Frame.headers, whole, open, encodeFields([[':path', '/x']])),
};

/** Valid frames that a client may send at any time. */
const fillers: readonly ((state: State) => Buffer)[] = [
  ({ random }) => frame(Frame.ping, 0, 0, Buffer.alloc(8, random.int(256))),
  ({ random }) =>
    frame(
      Frame.settings,
      0,
      0,
      settingsPayload([random.pick([3, 4, 6]), 65_535 + random.int(1000)], [0x99, random.int(9)]),
    ),
  ({ random }) => frame(Frame.settings, 0, 0, settingsPayload([1, random.int(5_000)])),
  ({ random }) => frame(Frame.windowUpdate, 0, 0, uint32(1 + random.int(70_000))),
  ({ random, waiting }) => frame(Frame.windowUpdate, 0, waiting, uint32(1 + random.int(70_000))),
  ({ random }) => frame(Frame.priority, 0, 1 + random.int(999), priority(0)),
  ({ random }) => frame(0x20 + random.int(99), random.int(256), random.int(99), Buffer.alloc(random.int(99))),
  ({ random, open }) => frame(Frame.data, 0, open, Buffer.alloc(1 + random.int(500))),
  ({ random, open }) => {
    const padding = random.int(256);
    return frame(
      Frame.data,
      Flag.padded,
      open,
      Buffer.concat([Buffer.from([padding]), Buffer.alloc(1 + random.int(99) + padding)]),
    );
  },
];

/** A valid request in one of the forms that a block can have. */
function validRequest(random: Random, stream: number): Buffer {
  const body = Buffer.concat([
    ...(random.once(4) ? [tableSize(random.int(4_097))] : []),
    goodBlock,
    ...(random.once(3) ? [addedField('x-added', `${random.int(99)}`)] : []),
    ...(random.once(3) ? [encodeFields([['x-a', 'v'.repeat(random.int(300))]])] : []),
    ...(random.once(4) ? [Buffer.from([0]), hpackString('x-huffman'), huffmanBytes(0xf8, 0x7f)] : []),
  ]);
  if (random.once(4)) {
    const at = random.int(body.byteLength);
    return Buffer.concat([
      frame(Frame.headers, Flag.endStream, stream, body.subarray(0, at)),
      frame(Frame.continuation, Flag.endHeaders, stream, body.subarray(at)),
    ]);
  }
  if (random.once(4)) return frame(Frame.headers, whole | Flag.priority, stream, Buffer.concat([priority(0), body]));
  if (!random.once(4)) return frame(Frame.headers, whole, stream, body);
  const padding = random.int(256);
  return frame(
    Frame.headers,
    whole | Flag.padded,
    stream,
    Buffer.concat([Buffer.from([padding]), body, Buffer.alloc(padding)]),
  );
}

/** The session of a seed: the same everywhere. */
export function generateSession(seed: number): GeneratedSession {
  const random = new Random(seed);
  const names = Object.keys(deviations);
  const deviation = random.once(5) ? '' : random.pick(names);
  const raced = new Set<number>();
  let next = 5;
  const state = (): State => ({ random, next, waiting: 1, open: 3 });
  const post = good.map(([name, value]) => [name, name === ':method' ? 'POST' : value] as const);
  const frames: Buffer[] = [head(1, getFields('/never')), frame(Frame.headers, Flag.endHeaders, 3, encodeFields(post))];
  const steps = 1 + random.int(10);
  const at = random.int(steps);
  for (let step = 0; step < steps; step++) {
    if (step === at && deviation !== '') {
      frames.push((deviations[deviation] as Deviation)(state()));
      // Whether it opened a stream or not: the one behind it is free.
      next += 4;
    } else if (random.once(3)) {
      frames.push(validRequest(random, next));
      if (random.once(6)) {
        frames.push(frame(Frame.rstStream, 0, next, uint32(8)));
        raced.add(next);
      }
      next += 2;
    } else frames.push(random.pick(fillers)(state()));
  }
  frames.push(
    random.once(2) ? frame(Frame.data, Flag.endStream, 3) : head(3, [['x-trailer', 't']]),
    validRequest(random, next),
  );
  return { deviation, frames, raced, last: next };
}
