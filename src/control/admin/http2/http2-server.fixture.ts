import { once } from 'node:events';
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { firstCertificate } from '../certificate.fixture.ts';
import { answerClientError } from '../http/client-error.ts';
import { createFrontedServer } from '../http/fronted-server.ts';

/** What reached the routes. */
export interface SeenRequest {
  readonly line: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  readonly server: Server;
  readonly seen: readonly SeenRequest[];
}

/** A server as the Admin API has it, with routes of the test. `set` changes its timeouts; `options` are for Node's constructor. */
export async function startServer(
  routes: RequestListener,
  set: (server: Server) => void = () => {},
  options: Readonly<Record<string, unknown>> = {},
): Promise<TestServer> {
  const seen: SeenRequest[] = [];
  const server = createFrontedServer({
    https: { cert: firstCertificate.cert, key: firstCertificate.key, ...options, http2: true },
    routes: (request, response) => {
      seen.push({ line: `${request.method} ${request.url} HTTP/${request.httpVersion}`, request, response });
      routes(request, response);
    },
  });
  // As Fastify does.
  server.on('clientError', answerClientError);
  set(server);
  const sockets = new Set<{ destroy(): void }>();
  server.on('connection', (socket) => sockets.add(socket));
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    server,
    seen,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      if (!server.listening) return;
      server.close();
      await once(server, 'close');
    },
  };
}

/** Answers with what it was sent: the body, and in headers how it was read. */
export const echo: RequestListener = (request, response) => {
  const pieces: Buffer[] = [];
  request.on('data', (piece: Buffer) => pieces.push(piece));
  request.on('end', () => {
    const body = Buffer.concat(pieces);
    response.setHeader('x-line', `${request.method} ${request.url} HTTP/${request.httpVersion}`);
    response.setHeader('x-headers', JSON.stringify(request.headers));
    response.end(body);
  });
};
