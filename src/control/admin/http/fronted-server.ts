import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { TlsOptions } from 'node:tls';
import { loadNow } from '../../../plugin-kit/runtime/load-now.ts';
import { nodeHttp } from '../../../shared/util/node-http.ts';

export type ServerTls = TlsOptions & { readonly http2: boolean };

/** Answers a request itself, or passes it on to the routes. */
export type RequestFront = (request: IncomingMessage, response: ServerResponse, routes: RequestListener) => void;

export interface FrontedServerOptions {
  /** Undefined: plain HTTP/1.1. */
  readonly https: ServerTls | undefined;
  readonly front?: RequestFront | undefined;
  readonly routes: RequestListener;
}

/** Milliseconds for which an idle connection is kept: Fastify's default, which the other listeners of the Admin API have. */
const idleTimeout = 72_000;

/** A server whose requests pass `front`, if there is one, before they reach the routes. */
export function createFrontedServer({ https, front, routes }: FrontedServerOptions): Server {
  const listener: RequestListener =
    front === undefined ? routes : (request, response) => front(request, response, routes);
  if (https === undefined) return kept(nodeHttp.createServer(listener));
  const { http2, ...tls } = https;
  if (!http2) return kept(process.getBuiltinModule('node:https').createServer(tls, listener));
  // Loads the HTTP/2 engine, which few nodes need here.
  const { Http2Server } = loadNow<typeof import('../http2/http2-server.ts')>(
    import.meta.url,
    '../http2/http2-server.ts',
  );
  return kept(new Http2Server(tls, listener));
}

function kept(server: Server): Server {
  server.keepAliveTimeout = idleTimeout;
  return server;
}
