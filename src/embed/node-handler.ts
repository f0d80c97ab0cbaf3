import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { serveOutside } from '../data/embedded/outside-exchange.ts';
import type { OutsideAnswer, OutsideAnswerHead, OutsideClient } from '../data/embedded/outside-request.ts';
import type { DataPlane } from '../data/request/data-plane.ts';
import { plainIp } from '../shared/util/net/plain-ip.ts';
import type { NodeHandler } from './gateway.ts';
import { headText, pairsOf } from './request-head.ts';

type Serving = ReturnType<typeof serveOutside>;

/** What `gateway.handler` is. */
export function nodeHandler(plane: DataPlane): NodeHandler {
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    const answer = new NodeAnswer(request, response);
    const head = headText(request.method ?? 'GET', request.url ?? '/', request.rawHeaders, unframedBody(request));
    answer.served(serveOutside(plane, { head, client: clientOf(request.socket) }, answer));
  };
  const upgrade = (request: IncomingMessage, socket: Duplex, first: Uint8Array): void => {
    // One request: what the client sends after its answer is not for the application any more.
    const head = headText(request.method ?? 'GET', request.url ?? '/', request.rawHeaders, 'Connection: close\r\n');
    const connection = socket as Socket;
    connection.setTimeout(0);
    plane.adopt(connection, clientOf(connection), Buffer.concat([Buffer.from(head, 'latin1'), first]));
  };
  return Object.assign(handle, { upgrade });
}

/** HTTP/2 ends a body without announcing its length. */
function unframedBody(request: IncomingMessage): string {
  if (request.httpVersionMajor < 2 || request.headers['content-length'] !== undefined) return '';
  const { stream } = request as { readonly stream?: { readonly endAfterHeaders?: boolean } };
  if (stream?.endAfterHeaders === true) return '';
  return 'Transfer-Encoding: chunked\r\n';
}

const clients = new WeakMap<Socket, OutsideClient>();

/** From the connection, never from a header. The same object for all requests of the connection. */
function clientOf(socket: Socket): OutsideClient {
  const known = clients.get(socket);
  if (known !== undefined) return known;
  const tls = 'encrypted' in socket && socket.encrypted === true ? (socket as TLSSocket) : null;
  const client: OutsideClient = {
    ip: plainIp(socket.remoteAddress ?? '0.0.0.0'),
    port: socket.remotePort ?? 0,
    localIp: plainIp(socket.localAddress ?? '0.0.0.0'),
    localPort: socket.localPort ?? 0,
    scheme: tls === null ? 'http' : 'https',
    tls,
  };
  clients.set(socket, client);
  return client;
}

/** The answer goes to a `ServerResponse`, and the body comes from its `IncomingMessage`. */
class NodeAnswer implements OutsideAnswer {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  #serving: Serving | null = null;
  #reading = false;

  constructor(request: IncomingMessage, response: ServerResponse) {
    this.#request = request;
    this.#response = response;
  }

  served(serving: Serving): void {
    this.#serving = serving;
    const response = this.#response;
    // Answered at once.
    if (response.writableEnded) return;
    response.on('drain', () => serving.drained());
    response.on('close', () => {
      if (!response.writableFinished) serving.aborted();
    });
    response.on('error', () => serving.aborted());
  }

  head({ status, reason, lines, contentLength }: OutsideAnswerHead): void {
    const pairs = pairsOf(lines);
    if (contentLength >= 0) pairs.push('Content-Length', String(contentLength));
    if (reason === '') this.#response.writeHead(status, pairs);
    else this.#response.writeHead(status, reason, pairs);
  }

  body(bytes: Uint8Array, start: number, end: number): boolean {
    return this.#response.write(Buffer.from(bytes.subarray(start, end)));
  }

  end(trailers: string): void {
    if (trailers !== '') this.#response.addTrailers(Object.fromEntries(chunks(pairsOf(trailers))));
    this.#response.end();
    // A body that nobody reads would keep the connection from its next request.
    if (!this.#request.readableEnded) this.#request.resume();
  }

  flush(): void {
    if (this.#response.headersSent && !this.#response.writableEnded) this.#response.flushHeaders();
  }

  abort(): void {
    this.#response.destroy();
  }

  readBody(): void {
    const request = this.#request;
    if (this.#reading) {
      request.resume();
      return;
    }
    this.#reading = true;
    request.on('data', (piece: Buffer) => this.#serving?.received(piece));
    request.on('end', () => this.#serving?.ended());
    // What was cut off is reported by the response.
    request.on('error', () => {});
  }

  pauseBody(): void {
    this.#request.pause();
  }
}

function chunks(pairs: readonly string[]): [string, string][] {
  const found: [string, string][] = [];
  for (let at = 0; at + 1 < pairs.length; at += 2) found.push([pairs[at] as string, pairs[at + 1] as string]);
  return found;
}
