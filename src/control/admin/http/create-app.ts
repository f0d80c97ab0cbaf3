import type { RequestListener, Server } from 'node:http';
import { Readable } from 'node:stream';
import {
  type FastifyHttpOptions,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  fastify,
} from 'fastify';
import { withSlowChecksOffThread } from '../../../shared/schema/slow-check.ts';
import { orderedUuid } from '../../../shared/util/time/ordered-uuid.ts';
import { OutageLog } from '../../../shared/util/time/outage-log.ts';
import type { Authenticator } from '../access/authenticator.ts';
import { type Caller, visitorCaller } from '../access/caller.ts';
import { clientCertificateOf } from '../access/client-certificate.ts';
import { runFor } from '../access/current-caller.ts';
import { requireAccess } from '../access/require-access.ts';
import { requireStillAllowed } from '../access/still-allowed.ts';
import type { AccessEntry, AdminLog } from '../admin-log.ts';
import type { AuditLog } from '../audit/audit-log.ts';
import { AuditTrail } from '../audit/audit-trail.ts';
import { forwardedClient } from '../audit/origin.ts';
import { answerOf } from '../errors.ts';
import type { Hints } from '../hints/hints.ts';
import { pathHint } from '../hints/path-hint.ts';
import { accessEntryOf, addressOf, loggedUrl, type RouteConfig, schemeOf } from './access-entry.ts';
import {
  type AdminRequest,
  type AdminRoute,
  type Answer,
  allowedMethods,
  type Method,
  type Operation,
  type RawBody,
} from './admin-route.ts';
import { admitBodies } from './admit-bodies.ts';
import { answerClientError } from './client-error.ts';
import { createFrontedServer, type RequestFront, type ServerTls } from './fronted-server.ts';
import { methodNotAllowed, notFound, withHint } from './http-error.ts';
import { noRouteError } from './no-route-error.ts';
import { createOriginPolicy, type OriginPolicy, type RequestOrigin } from './origin-policy.ts';
import { parseQuery } from './query.ts';
import { decodeBody, methodsWithBody, noBody } from './request-body.ts';

/** Protocols of the server; plain HTTP/1.1 when empty. */
export interface ServerOptions {
  readonly https?: ServerTls;
  /** Sees each request before the routes do. Default: the routes receive all of them. */
  readonly front?: RequestFront;
}

export interface AppOptions {
  readonly server: ServerOptions;
  readonly routes: readonly AdminRoute[];
  readonly log: AdminLog;
  /** Receives each finished request. */
  readonly access: (entry: AccessEntry) => void;
  /** Value of `Server`, or null to leave it out. */
  readonly serverHeader: string | null;
  readonly latencyHeader: boolean;
  /** Null: nobody signs in, and every caller may read. */
  readonly authenticator: Authenticator | null;
  /** Origins of `admin_gui_url`. */
  readonly guiOrigins: readonly string[];
  /** Names that `Host` may have. */
  readonly hosts: readonly string[];
  readonly hostCheck: 'all' | 'loopback';
  /** Largest body in bytes; 0 is unlimited. */
  readonly maxBodySize: number;
  /** Receives records of writes. */
  readonly audit: AuditLog;
  readonly hints: Hints;
}

const everyMethod = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'TRACE'] as const;
const routedMethods: ReadonlySet<string> = new Set(everyMethod);
/** Clients of Kong's official SDK put the workspace before every path. */
const workspaceAlias = '/default';

/** A Fastify instance that answers these routes under Kong's transport rules. */
export function createApp(options: AppOptions): FastifyInstance {
  const app = fastify({
    ...serverOptions(options.server),
    logger: false,
    schemaController: withoutSchemas,
    exposeHeadRoutes: false,
    // A slower client is disconnected.
    requestTimeout: 300_000,
    bodyLimit: options.maxBodySize === 0 ? Number.MAX_SAFE_INTEGER : options.maxBodySize,
    genReqId: () => orderedUuid().replaceAll('-', ''),
    rewriteUrl: (request) => withoutWorkspace(request.url ?? '/'),
    clientErrorHandler: answerClientError,
    routerOptions: {
      ignoreTrailingSlash: true,
      maxParamLength: 8192,
      querystringParser: () => ({}),
      onBadUrl: (_path, _request, response) => {
        response.writeHead(400, { 'content-type': jsonType }).end('{"message":"Bad request"}');
      },
    },
  });
  // Bodies stay bytes: only a route that exists and takes a body decodes them.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  const policy = createOriginPolicy({
    guiOrigins: options.guiOrigins,
    hosts: options.hosts,
    hostCheck: options.hostCheck,
  });
  addGuards(app, policy, options);
  addAccessLog(app, options.access);
  for (const route of options.routes) register(app, policy, route, options);
  const collections = [...new Set(options.routes.map(({ path }) => path.split('/')[1] ?? ''))];
  app.setNotFoundHandler((request) => {
    throw withHint(notFound(), pathHint(request.url, collections));
  });
  const storeOutage = new OutageLog(
    { warn: options.log.warn, error: (message, { reason }) => options.log.error(message, reason) },
    'the Admin API cannot use the store',
  );
  app.setErrorHandler((error, request, reply) => {
    send(
      reply,
      answerOf(error, {
        failed: (cause) => options.log.error(`${request.method} ${loggedUrl(request, request.url)} failed`, cause),
        storeUnavailable: (cause) => storeOutage.failed(cause),
      }),
    );
  });
  return app;
}

const jsonType = 'application/json; charset=utf-8';

/**
 * Entities check their own fields, so no route has a schema of Fastify's. Without these functions it would still
 * load its validator and its serializer.
 */
const withoutSchemas = { compilersFactory: { buildValidator: noCompiler, buildSerializer: noCompiler } };

function noCompiler(): never {
  throw new Error('the routes of the Admin API have no schemas of Fastify');
}

function serverOptions({ https, front }: ServerOptions): FastifyHttpOptions<Server> {
  if (front !== undefined || https?.http2 === true) {
    return { serverFactory: (routes: RequestListener): Server => createFrontedServer({ https, front, routes }) };
  }
  if (https === undefined) return {};
  const { http2: _, ...tls } = https;
  // Fastify has a type for each kind of server; for the routes they are all the same.
  return { https: tls } as unknown as FastifyHttpOptions<Server>;
}

function withoutWorkspace(url: string): string {
  if (!url.startsWith(workspaceAlias)) return url;
  const rest = url.slice(workspaceAlias.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : url;
}

/** The caller of each request that has signed in. */
const callers = new WeakMap<FastifyRequest, Caller>();

function callerOf(request: FastifyRequest): Caller {
  return callers.get(request) ?? visitorCaller;
}

function addGuards(app: FastifyInstance, policy: OriginPolicy, options: AppOptions): void {
  const { serverHeader, latencyHeader, authenticator, audit } = options;
  const requestsCertificate = options.server.https?.requestCert === true;

  function showOrigin(reply: FastifyReply, origin: RequestOrigin, token: boolean): void {
    const allowed = policy.allowOrigin(origin, token);
    if (allowed !== null) {
      reply.header('access-control-allow-origin', allowed);
      reply.header('access-control-allow-credentials', 'true');
    }
    if (allowed !== '*') reply.header('vary', 'Origin');
  }

  app.addHook('onRequest', async (request, reply) => {
    const origin = originOf(request);
    if (serverHeader !== null) reply.header('server', serverHeader);
    const certificate = clientCertificateOf(request.raw.socket, requestsCertificate);
    // A browser adds a certificate to requests of any page.
    const asksForToken = async (): Promise<boolean> =>
      authenticator !== null && certificate.kind === 'none' && (await authenticator.isRequired().catch(() => true));
    // A browser sends OPTIONS before it may send the token.
    if (authenticator !== null && request.method !== 'OPTIONS') {
      try {
        const { headers } = request;
        const caller = await authenticator.signIn({ headers, certificate, address: clientOf(request, audit) });
        callers.set(request, caller);
      } catch (error) {
        showOrigin(reply, origin, await asksForToken());
        throw error;
      }
    }
    const token = request.method === 'OPTIONS' ? await asksForToken() : callerOf(request).provesPage;
    showOrigin(reply, origin, token);
    if (!token) policy.check(origin);
    if (!routedMethods.has(request.method)) throw noRouteError(request.method, request.url, options.routes);
  });
  if (latencyHeader) {
    app.addHook('onSend', (_request, reply, payload, next) => {
      reply.header('x-kong-admin-latency', String(Math.floor(reply.elapsedTime)));
      next(null, payload);
    });
  }
}

function clientOf(request: FastifyRequest, { trusted }: AuditLog): string {
  return forwardedClient(addressOf(request), request.headers['x-forwarded-for'], trusted);
}

function originOf(request: FastifyRequest): RequestOrigin {
  const { origin, host, 'sec-fetch-site': fetchSite } = request.headers;
  return {
    method: request.method,
    scheme: schemeOf(request),
    origin,
    host,
    localAddress: request.socket.localAddress,
    fetchSite: typeof fetchSite === 'string' ? fetchSite : undefined,
  };
}

function addAccessLog(app: FastifyInstance, access: AppOptions['access']): void {
  app.addHook('onResponse', (request, reply, next) => {
    access(accessEntryOf(request, reply));
    next();
  });
}

function register(app: FastifyInstance, policy: OriginPolicy, route: AdminRoute, options: AppOptions): void {
  const allow = allowedMethods(route);
  app.route({
    method: [...everyMethod],
    url: route.path.replace(/\{([^}]+)\}/g, ':$1'),
    ...(route.secretParams === undefined ? {} : { config: { secretParams: route.secretParams } satisfies RouteConfig }),
    // Before the body is read.
    onRequest: (request, _reply, next) => {
      const operation = operationOf(route, request.method);
      if (operation !== undefined) requireAccess(callerOf(request), operation, request.method, route.path);
      if (operation?.events === true && !callerOf(request).provesPage) policy.checkPage(originOf(request));
      next();
    },
    ...(route.maxBodySize === undefined ? {} : { bodyLimit: route.maxBodySize }),
    ...(route.admit === undefined ? {} : { preParsing: admitBodies(route.admit) }),
    handler: async (request, reply) => {
      const result = await answer(route, allow, request, options);
      return send(reply, result);
    },
  });
}

function operationOf(route: AdminRoute, method: string): Operation | undefined {
  return route.operations[(method === 'HEAD' ? 'GET' : method) as Method];
}

async function answer(route: AdminRoute, allow: string, request: FastifyRequest, options: AppOptions): Promise<Answer> {
  const { method } = request;
  if (method === 'OPTIONS') return preflight(allow, request);
  const operation = operationOf(route, method);
  if (operation === undefined) throw methodNotAllowed(allow);
  const query = parseQuery(request.url);
  const raw = methodsWithBody.has(method) ? rawBodyOf(request) : null;
  const takesRaw = operation.rawBody === true;
  const body = raw === null || takesRaw ? noBody : await decodeBody(raw.type, raw.bytes);
  const path = request.url.replace(/\?.*$/s, '').replace(/(.)\/$/, '$1');
  const trail = trailOf(request, path, operation, options);
  const params = request.params as Readonly<Record<string, string>>;
  const caller = callerOf(request);
  const adminRequest = {
    path,
    params,
    query,
    body,
    raw: takesRaw ? raw : null,
    trail,
    caller,
    accept: request.headers.accept ?? null,
    requireStillAllowed: () => stillAllowed(request, operation, route, options),
  };
  const result = await handled(operation, adminRequest, options.hints);
  if (method === 'GET' || method === 'HEAD' || operation.readOnly === true || result.status >= 400) return result;
  await options.audit.afterwards(trail, query, body);
  return withVersion(options.hints.accepted(result, operation.notes, body, path), trail);
}

/** A client that wrote learns which version it made, for example to take it back. */
function withVersion(result: Answer, { version }: AuditTrail): Answer {
  if (version === null) return result;
  return { ...result, headers: { ...result.headers, 'x-sluicegate-config-version': String(version) } };
}

async function stillAllowed(
  request: FastifyRequest,
  operation: Operation,
  { path }: AdminRoute,
  { authenticator, audit, server }: AppOptions,
): Promise<void> {
  if (authenticator === null) return;
  const { headers, method, raw } = request;
  const certificate = clientCertificateOf(raw.socket, server.https?.requestCert === true);
  const signIn = { headers, certificate, address: clientOf(request, audit) };
  await requireStillAllowed(authenticator, { signIn, caller: callerOf(request), operation, method, path });
}

function rawBodyOf(request: FastifyRequest): RawBody {
  return {
    type: request.headers['content-type'],
    bytes: (request.body as Uint8Array | undefined) ?? new Uint8Array(),
  };
}

async function handled(operation: Operation, request: AdminRequest, hints: Hints): Promise<Answer> {
  try {
    return await runFor(request.caller, () => withSlowChecksOffThread(async () => operation.handle(request)));
  } catch (error) {
    throw hints.refused(error, operation.notes, request.body);
  }
}

function trailOf(request: FastifyRequest, path: string, { notes }: Operation, { audit }: AppOptions): AuditTrail {
  const origin = {
    actor: callerOf(request).actor,
    peer: addressOf(request),
    client: clientOf(request, audit),
    requestId: request.id,
  };
  const { method } = request;
  const recorded = { origin, method, path: loggedUrl(request, path), status: notes.status ?? 200 };
  return new AuditTrail(recorded, audit.entities);
}

function preflight(allow: string, request: FastifyRequest): Answer {
  const headers = request.headers['access-control-request-headers'];
  return {
    status: 204,
    headers: {
      allow,
      'access-control-allow-methods': allow,
      'access-control-allow-headers': headers ?? 'Content-Type',
    },
  };
}

function send(reply: FastifyReply, result: Answer): FastifyReply {
  reply.code(result.status);
  if (result.headers !== undefined) reply.headers(result.headers);
  if (result.stream !== undefined) return sendStream(reply, result.stream);
  if (result.text !== undefined) return reply.type('text/plain; charset=utf-8').send(result.text);
  if (result.json === undefined) return reply.send();
  return reply.type(jsonType).send(JSON.stringify(result.json));
}

/** An answer to HEAD has no body, so none is generated. */
function sendStream(reply: FastifyReply, { type, body }: NonNullable<Answer['stream']>): FastifyReply {
  reply.type(type);
  if (reply.request.method !== 'HEAD') return reply.send(body);
  body.destroy();
  return reply.send(Readable.from([]));
}
