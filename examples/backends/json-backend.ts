import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What a handler answers: a status and a JSON value. */
export interface JsonAnswer {
  readonly status: number;
  readonly body: unknown;
}

export interface JsonRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** The decoded JSON body; undefined when there was none, null when it was not JSON. */
  readonly body: unknown;
}

export interface ExampleBackend extends AsyncDisposable {
  readonly name: string;
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

export type JsonHandler = (request: JsonRequest) => JsonAnswer;

/** A small HTTP server on 127.0.0.1 that speaks JSON; port 0 lets the system choose. */
export async function startJsonBackend(name: string, port: number, handle: JsonHandler): Promise<ExampleBackend> {
  const server = createServer((request, response) => {
    readJson(request).then(
      (body) => {
        const url = new URL(request.url ?? '/', 'http://backend');
        const { status, body: answer } = handle({
          method: request.method ?? 'GET',
          path: url.pathname,
          query: url.searchParams,
          body,
        });
        const bytes = Buffer.from(JSON.stringify(answer));
        response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': bytes.length });
        response.end(bytes);
      },
      () => response.destroy(),
    );
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  const bound = (server.address() as AddressInfo).port;
  const close = (): Promise<void> => closeServer(server);
  return { name, port: bound, url: `http://127.0.0.1:${bound}`, close, [Symbol.asyncDispose]: close };
}

export function notFound(): JsonAnswer {
  return { status: 404, body: { message: 'Not found' } };
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  if (pieces.length === 0) return undefined;
  try {
    return JSON.parse(Buffer.concat(pieces).toString('utf8'));
  } catch {
    return null;
  }
}

async function closeServer(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close');
}
