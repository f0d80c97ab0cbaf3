import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { TlsOptions } from 'node:tls';
import { nodeHttp } from '../../../shared/util/node-http.ts';

export type ServerTls = TlsOptions & { readonly http2: boolean };

/** Answers a request itself, or passes it on to the routes. */
export type RequestFront = (request: IncomingMessage, response: ServerResponse, routes: RequestListener) => void;

export interface FrontedServerOptions {
  /** Undefined: plain HTTP/1.1. */
  readonly https: ServerTls | undefined;
  readonly front: RequestFront;
  readonly routes: RequestListener;
}

/** Milliseconds for which an idle connection is kept: Fastify's default, which the other listeners of the Admin API have. */
const idleTimeout = 72_000;

/** A server whose requests pass `front` before they reach the routes. */
export function createFrontedServer({ https, front, routes }: FrontedServerOptions): Server {
  const listener: RequestListener = (request, response) => front(request, response, routes);
  if (https === undefined) return kept(nodeHttp.createServer(listener));
  const { http2, ...tls } = https;
  if (!http2) return kept(process.getBuiltinModule('node:https').createServer(tls, listener));
  const { createSecureServer } = process.getBuiltinModule('node:http2');
  const create = createSecureServer as unknown as (options: TlsOptions, listener: RequestListener) => Server;
  const server = create({ ...tls, allowHTTP1: true } as TlsOptions, listener);
  server.on('session', (session: { setTimeout(time: number, ended: () => void): void; close(): void }) =>
    session.setTimeout(idleTimeout, () => session.close()),
  );
  return server;
}

function kept(server: Server): Server {
  server.keepAliveTimeout = idleTimeout;
  return server;
}
