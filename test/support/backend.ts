import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import './file-end.ts';

/** What the echo backend answers with, as JSON, and records of each request. */
export interface EchoedRequest {
  readonly method: string;
  /** Request target as it arrived: path and query. */
  readonly url: string;
  readonly httpVersion: string;
  /** Lower-case names; repeated headers joined as Node does. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** Name, value, name, value: order and case as they arrived. */
  readonly rawHeaders: readonly string[];
  readonly body: string;
  /** Name of the backend, from the options. */
  readonly backend: string;
}

export type BackendHandler = (request: IncomingMessage, response: ServerResponse) => void;

export interface TestBackend extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  /** Every request that the echo handler answered, oldest first. */
  readonly requests: readonly EchoedRequest[];
  readonly server: Server;
  close(): Promise<void>;
}

export interface BackendOptions {
  readonly name?: string;
  /** Address that it listens on. Default 127.0.0.1. */
  readonly host?: string;
  /** Replaces the echo. */
  readonly handler?: BackendHandler;
}

/** A backend on a port of 127.0.0.1 chosen by the system. By default it answers 200 with what it received. */
export async function startBackend(options: BackendOptions = {}): Promise<TestBackend> {
  const requests: EchoedRequest[] = [];
  const { name = 'backend', host = '127.0.0.1' } = options;
  const server = createServer(options.handler ?? ((request, response) => echo(name, requests, request, response)));
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<void> => closeServer(server);
  return { port, url: `http://${host}:${port}`, requests, server, close, [Symbol.asyncDispose]: close };
}

function echo(name: string, requests: EchoedRequest[], request: IncomingMessage, response: ServerResponse): void {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('error', () => response.destroy());
  request.on('end', () => {
    const seen: EchoedRequest = {
      method: request.method ?? '',
      url: request.url ?? '',
      httpVersion: request.httpVersion,
      headers: request.headers,
      rawHeaders: request.rawHeaders,
      body: Buffer.concat(pieces).toString('utf8'),
      backend: name,
    };
    requests.push(seen);
    const body = JSON.stringify(seen);
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) });
    response.end(body);
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
