import { once } from 'node:events';
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
} from 'node:http2';

export interface Http2Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** 1xx answers before the final one. */
  readonly informational: readonly IncomingHttpHeaders[];
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Error code of RST_STREAM; 0 if the stream ended normally. */
  readonly code: number;
}

export interface Http2Request {
  readonly headers?: OutgoingHttpHeaders;
  readonly body?: string | Buffer;
  readonly trailers?: OutgoingHttpHeaders;
}

/** A client's HTTP/2 session with a gateway, over TLS when `secure`. */
export class Http2Client implements AsyncDisposable {
  readonly session: ClientHttp2Session;

  constructor(session: ClientHttp2Session) {
    this.session = session;
    session.on('error', () => {});
  }

  /** Sends a request and reads its answer to the end. */
  async request(path: string, request: Http2Request = {}): Promise<Http2Answer> {
    const stream = this.open(path, request.headers, request.body === undefined && request.trailers === undefined);
    if (request.trailers !== undefined) {
      const { trailers } = request;
      stream.on('wantTrailers', () => stream.sendTrailers(trailers));
    }
    if (request.body !== undefined || request.trailers !== undefined) stream.end(request.body);
    return await readAnswer(stream);
  }

  /** Opens a stream; the caller writes its body. */
  open(path: string, headers: OutgoingHttpHeaders = {}, endStream = false): ClientHttp2Stream {
    const stream = this.session.request({ ':path': path, ...headers }, { endStream, waitForTrailers: !endStream });
    stream.on('error', () => {});
    return stream;
  }

  async close(): Promise<void> {
    if (this.session.destroyed) return;
    const closed = once(this.session, 'close');
    this.session.destroy();
    await closed;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

export async function readAnswer(stream: ClientHttp2Stream): Promise<Http2Answer> {
  let headers: IncomingHttpHeaders = {};
  let trailers: IncomingHttpHeaders = {};
  const informational: IncomingHttpHeaders[] = [];
  const pieces: Buffer[] = [];
  stream.on('headers', (fields) => informational.push(fields));
  stream.on('response', (fields) => {
    headers = fields;
  });
  stream.on('trailers', (fields) => {
    trailers = fields;
  });
  stream.on('data', (piece: Buffer) => pieces.push(piece));
  if (!stream.destroyed) await new Promise<void>((resolve) => stream.once('close', resolve));
  const status = Number(headers[':status'] ?? 0);
  return { status, headers, trailers, informational, body: Buffer.concat(pieces), code: stream.rstCode ?? 0 };
}

/** Connects with prior knowledge, or over TLS. */
export async function openHttp2(port: number, secure = false): Promise<Http2Client> {
  const session = connect(`${secure ? 'https' : 'http'}://127.0.0.1:${port}`, { rejectUnauthorized: false });
  const client = new Http2Client(session);
  await once(session, 'connect');
  return client;
}
