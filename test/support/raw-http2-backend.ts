import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { encodeFields, type Fields, Flag, Frame, frame, preface } from './http2-frames.ts';

/** A session with the gateway; any bytes can be written to it. */
export interface RawSession {
  readonly socket: Socket;
  /** Counts from 1. */
  readonly number: number;
  /** Sends a frame. */
  send(type: number, flags: number, stream: number, payload?: Uint8Array | string): void;
  headers(stream: number, fields: Fields, endStream?: boolean): void;
  /** A gRPC answer with this body and `grpc-status: 0`. */
  answer(stream: number, body?: string): void;
}

export interface RawHttp2Options {
  /** Replaces the empty SETTINGS frame at the beginning; null: nothing is sent. */
  readonly hello?: Buffer | null;
  /** Called for each request head. `count`: within its session, from 1. */
  readonly request?: (session: RawSession, stream: number, count: number) => void;
  /** Called for each frame of another type. `length`: bytes of its payload. */
  readonly frame?: (session: RawSession, type: number, stream: number, flags: number, length: number) => void;
}

export interface RawHttp2Backend extends AsyncDisposable {
  readonly port: number;
  /** Sessions so far. */
  readonly sessions: readonly RawSession[];
}

/** A server that sends only the HTTP/2 frames that a test defines. */
export async function startRawHttp2Backend(options: RawHttp2Options): Promise<RawHttp2Backend> {
  const sessions: RawSession[] = [];
  const server = createServer((socket) => {
    const session = rawSession(socket, sessions.length + 1);
    sessions.push(session);
    socket.on('error', () => {});
    if (options.hello !== null) socket.write(options.hello ?? frame(Frame.settings, 0, 0));
    readFrames(session, options);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    sessions,
    async [Symbol.asyncDispose]() {
      for (const { socket } of sessions) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function rawSession(socket: Socket, number: number): RawSession {
  const send: RawSession['send'] = (type, flags, stream, payload) => {
    if (!socket.destroyed) socket.write(frame(type, flags, stream, payload));
  };
  const headers: RawSession['headers'] = (stream, fields, endStream = false) =>
    send(Frame.headers, Flag.endHeaders | (endStream ? Flag.endStream : 0), stream, encodeFields(fields));
  return {
    socket,
    number,
    send,
    headers,
    answer(stream, body = '') {
      headers(stream, okHead);
      if (body !== '') send(Frame.data, 0, stream, body);
      headers(stream, [['grpc-status', '0']], true);
    },
  };
}

/** The head of a gRPC answer. */
export const okHead: Fields = [
  [':status', '200'],
  ['content-type', 'application/grpc'],
];

function readFrames(session: RawSession, options: RawHttp2Options): void {
  let rest = Buffer.alloc(0);
  let greeted = false;
  let requests = 0;
  session.socket.on('data', (piece: Buffer) => {
    rest = Buffer.concat([rest, piece]);
    if (!greeted) {
      if (rest.byteLength < preface.length) return;
      rest = rest.subarray(preface.length);
      greeted = true;
    }
    while (rest.byteLength >= 9 && rest.byteLength >= 9 + rest.readUIntBE(0, 3)) {
      const type = rest[3] as number;
      const flags = rest[4] as number;
      const stream = rest.readUInt32BE(5);
      const length = rest.readUIntBE(0, 3);
      rest = rest.subarray(9 + length);
      if (type === Frame.settings && (flags & Flag.ack) === 0 && options.hello !== null)
        session.send(Frame.settings, Flag.ack, 0);
      if (type === Frame.headers) options.request?.(session, stream, ++requests);
      else options.frame?.(session, type, stream, flags, length);
    }
  });
}
