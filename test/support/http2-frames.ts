import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

/** Frame types (RFC 9113 6). */
export const Frame = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const Flag = { endStream: 0x1, ack: 0x1, endHeaders: 0x4, padded: 0x8, priority: 0x20 } as const;

/** Error codes (RFC 9113 7). */
export const Code = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

export const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';

export type Fields = readonly (readonly [string, string])[];

/** One frame as bytes, without any check. */
export function frame(type: number, flags: number, stream: number, payload: Uint8Array | string = ''): Buffer {
  const body = typeof payload === 'string' ? Buffer.from(payload, 'latin1') : payload;
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.byteLength, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream >>> 0, 5);
  return Buffer.concat([head, body]);
}

/** Fields as literals that are not indexed and not coded (RFC 7541 6.2.2): any byte can be sent. */
export function encodeFields(fields: Fields): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.from([0]), literal(name), literal(value)]));
}

function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  return Buffer.concat([integer(bytes.byteLength, 7), bytes]);
}

/** An integer with a prefix of this many bits, the low bits of the first byte (RFC 7541 5.1). */
function integer(value: number, bits: number): Buffer {
  const most = 2 ** bits - 1;
  if (value < most) return Buffer.from([value]);
  const bytes = [most];
  let left = value - most;
  for (; left >= 128; left = Math.floor(left / 128)) bytes.push((left % 128) + 128);
  return Buffer.from([...bytes, left]);
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** A SETTINGS payload of pairs of identifier and value. */
export function settingsPayload(...pairs: readonly (readonly [number, number])[]): Buffer {
  return Buffer.concat(
    pairs.map(([id, value]) => {
      const pair = Buffer.alloc(6);
      pair.writeUInt16BE(id);
      pair.writeUInt32BE(value, 2);
      return pair;
    }),
  );
}

export function getFields(path: string, more: Fields = []): Fields {
  return [[':method', 'GET'], [':scheme', 'http'], [':authority', 'example.com'], [':path', path], ...more];
}

/** What arrived on a stream. */
export interface StreamRecord {
  /** 0: no answer, or one whose status is in the dynamic table. */
  status: number;
  bytes: number;
  ended: boolean;
  /** Null: not reset. */
  code: number | null;
}

/** An HTTP/2 client that writes exactly the given frames. By itself it only acknowledges SETTINGS and PING, while `answers`. */
export class FrameClient implements Disposable {
  readonly socket: Socket;
  readonly streams = new Map<number, StreamRecord>();
  /** Error code of the received GOAWAY; null: none. */
  goawayCode: number | null = null;
  closed = false;
  answers = true;
  /** SETTINGS frames of the other side, and what they contained. */
  settings = 0;
  readonly peerSettings = new Map<number, number>();
  /** Types of all frames, in order. */
  readonly received: number[] = [];
  /** Bytes that the other side accepts on all streams together, as far as it said so. */
  connectionWindow = 65_535;
  pongs = 0;
  settingsAcks = 0;
  #pending: Buffer = Buffer.alloc(0);
  #waiting = new Set<() => void>();

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('error', () => {});
    socket.on('data', (bytes: Buffer) => this.#read(bytes));
    socket.on('close', () => {
      this.closed = true;
      this.#notify();
    });
  }

  write(...frames: readonly (Uint8Array | string)[]): void {
    if (this.socket.destroyed) return;
    this.socket.write(
      Buffer.concat(frames.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part))),
    );
  }

  /** A whole request head in one frame. */
  request(stream: number, fields: Fields, endStream = true): void {
    this.write(frame(Frame.headers, Flag.endHeaders | (endStream ? Flag.endStream : 0), stream, encodeFields(fields)));
  }

  /** Waits until the stream is answered in full, or reset, or the connection ends. */
  async finished(stream: number): Promise<StreamRecord> {
    await this.until(() => {
      const record = this.streams.get(stream);
      return this.closed || (record !== undefined && (record.ended || record.code !== null));
    });
    return this.record(stream);
  }

  /** Waits for GOAWAY or the end of the connection; returns the code, or null without GOAWAY. */
  async refused(): Promise<number | null> {
    await this.until(() => this.closed || this.goawayCode !== null);
    return this.goawayCode;
  }

  async until(condition: () => boolean, wait = 8_000): Promise<void> {
    const end = performance.now() + wait;
    while (!condition()) {
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`waited ${wait} ms for ${condition}`)),
          end - performance.now(),
        );
        this.#waiting.add(() => {
          clearTimeout(timer);
          resolve();
        });
      });
    }
  }

  record(stream: number): StreamRecord {
    let record = this.streams.get(stream);
    if (record === undefined) {
      record = { status: 0, bytes: 0, ended: false, code: null };
      this.streams.set(stream, record);
    }
    return record;
  }

  close(): void {
    this.socket.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  #read(bytes: Buffer): void {
    this.#pending = this.#pending.byteLength === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    while (this.#pending.byteLength >= 9) {
      const length = this.#pending.readUIntBE(0, 3);
      if (this.#pending.byteLength < 9 + length) break;
      const [type = 0, flags = 0] = this.#pending.subarray(3, 5);
      const stream = this.#pending.readUInt32BE(5) & 0x7fffffff;
      const payload = this.#pending.subarray(9, 9 + length);
      this.#pending = this.#pending.subarray(9 + length);
      this.#take(type, flags, stream, payload);
    }
    this.#notify();
  }

  #take(type: number, flags: number, stream: number, payload: Buffer): void {
    this.received.push(type);
    switch (type) {
      case Frame.settings:
        if ((flags & Flag.ack) !== 0) this.settingsAcks++;
        else {
          this.settings++;
          for (let at = 0; at + 6 <= payload.byteLength; at += 6)
            this.peerSettings.set(payload.readUInt16BE(at), payload.readUInt32BE(at + 2));
          if (this.answers) this.write(frame(Frame.settings, Flag.ack, 0));
        }
        break;
      case Frame.ping:
        if ((flags & Flag.ack) !== 0) this.pongs++;
        else if (this.answers) this.write(frame(Frame.ping, Flag.ack, 0, payload));
        break;
      case Frame.windowUpdate:
        if (stream === 0) this.connectionWindow += payload.readUInt32BE(0);
        break;
      case Frame.goaway:
        this.goawayCode = payload.readUInt32BE(4);
        break;
      case Frame.rstStream:
        this.record(stream).code = payload.readUInt32BE(0);
        break;
      case Frame.headers:
        if (this.record(stream).status === 0) this.record(stream).status = statusOf(payload);
        break;
      case Frame.data:
        this.record(stream).bytes += payload.byteLength;
        break;
    }
    if ((type === Frame.headers || type === Frame.data) && (flags & Flag.endStream) !== 0)
      this.record(stream).ended = true;
  }

  #notify(): void {
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }
}

const indexedStatuses: Readonly<Record<number, number>> = {
  136: 200,
  137: 204,
  138: 206,
  139: 304,
  140: 400,
  141: 404,
  142: 500,
};

/** `:status` is the first field of an answer: indexed, or a literal of three digits (RFC 7541). */
function statusOf(block: Buffer): number {
  let at = 0;
  // Dynamic table size updates come first.
  while (at < block.byteLength && ((block[at] as number) & 0xe0) === 0x20) {
    const long = block[at] === 0x3f;
    at++;
    if (long) while ((block[at++] as number) >= 0x80);
  }
  const indexed = indexedStatuses[block[at] as number];
  if (indexed !== undefined) return indexed;
  const length = block[at + 1] ?? 0;
  const text = block.subarray(at + 2, at + 2 + (length & 0x7f));
  return Number(length > 0x7f ? huffmanDigits(text) : text.toString('latin1')) || 0;
}

/** Digits of the code of RFC 7541 B: 0-2 have five bits, 3-9 six. */
function huffmanDigits(bytes: Buffer): string {
  let bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  let text = '';
  while (text.length < 3 && bits.length >= 5) {
    const five = Number.parseInt(bits.slice(0, 5), 2);
    const length = five <= 2 ? 5 : 6;
    text += five <= 2 ? five : Number.parseInt(bits.slice(0, 6), 2) - 0b011001 + 3;
    bits = bits.slice(length);
  }
  return text;
}

/** Connects and sends the preface and `settings` (a payload), null omits both. `allowHalfOpen`: never closes by itself. `localAddress`: of the client. */
export async function openFrames(
  port: number,
  settings: Uint8Array | null = new Uint8Array(0),
  allowHalfOpen = false,
  localAddress = '127.0.0.1',
): Promise<FrameClient> {
  const socket = connect({ port, host: '127.0.0.1', localAddress, noDelay: true, allowHalfOpen });
  const client = new FrameClient(socket);
  await once(socket, 'connect');
  if (settings !== null) client.write(preface, frame(Frame.settings, 0, 0, settings));
  return client;
}

/** The same over TLS. */
export async function openSecureFrames(
  port: number,
  settings: Uint8Array | null = new Uint8Array(0),
): Promise<FrameClient> {
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] });
  socket.setNoDelay(true);
  const client = new FrameClient(socket);
  await once(socket, 'secureConnect');
  if (settings !== null) client.write(preface, frame(Frame.settings, 0, 0, settings));
  return client;
}
