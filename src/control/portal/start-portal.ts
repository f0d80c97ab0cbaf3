import { type FastifyInstance, fastify } from 'fastify';
import type { AdminDependencies, AdminOptions, RunningListener } from '../admin/contract.ts';
import { answerClientError } from '../admin/http/client-error.ts';
import type { ServerOptions } from '../admin/http/create-app.ts';
import { createFrontedServer, type RequestFront } from '../admin/http/fronted-server.ts';
import { listenAll } from '../admin/http/listen-all.ts';
import { portalServerTls } from '../admin/http/server-tls.ts';
import { PortalFiles } from './portal-files.ts';
import { createPortalFront } from './portal-front.ts';

/** Milliseconds for a head, for a whole request, of silence of a client, and of an idle connection. */
const headersTimeout = 10_000;
const requestTimeout = 15_000;
const silence = 30_000;
const idleTimeout = 10_000;
/** Connections of one address of `portal_listen`. */
const maxConnections = 1_000;

/** Starts the portal on every address of `portal_listen`. `folder`: where the built files are. */
export function startPortal(
  { settings, store, analytics }: AdminDependencies,
  { entities, log, inherited }: AdminOptions,
  folder?: string,
): Promise<RunningListener> {
  const files = new PortalFiles(folder);
  const front = createPortalFront({ settings, store, analytics, entities, log }, files);
  return listenAll(settings.portalListen, { settings, inherited, tlsOf: portalServerTls }, (server) =>
    createPortalApp(server, front),
  );
}

/** Only listens and closes: the front answers everything. */
function createPortalApp({ https }: ServerOptions, front: RequestFront): FastifyInstance {
  return fastify({
    logger: false,
    clientErrorHandler: answerClientError,
    serverFactory(routes) {
      const server = createFrontedServer({ https, front, routes });
      server.headersTimeout = headersTimeout;
      server.requestTimeout = requestTimeout;
      server.keepAliveTimeout = idleTimeout;
      server.maxConnections = maxConnections;
      server.setTimeout(silence);
      return server;
    },
  });
}
