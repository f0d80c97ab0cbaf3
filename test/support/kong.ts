import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type KongRow = Readonly<Record<string, unknown>>;

export interface StandInOptions {
  /** Rows by path: `/services`, `/upstreams/<id>/targets`. A path that is missing here is answered with 404. */
  readonly rows: Readonly<Record<string, readonly KongRow[]>>;
  /** Default: `3.9.1`. */
  readonly version?: string;
  /** Rows of one page, whatever `size` says. Default: 2. */
  readonly pageSize?: number;
  /** Every request must have it as `Kong-Admin-Token`. */
  readonly token?: string;
  /** Statuses of paths that answer with an error. */
  readonly statuses?: Readonly<Record<string, number>>;
  /** Answers instead; false: it did not. */
  readonly instead?: (request: IncomingMessage, response: ServerResponse, path: string) => boolean;
}

/** What the Admin API of a Kong shows, as far as an import reads it: pages with offsets, its errors, its headers. */
export interface KongStandIn extends AsyncDisposable {
  readonly url: string;
  /** Paths with queries, in their order. */
  readonly requests: readonly string[];
  readonly server: Server;
}

export async function startKongStandIn(options: StandInOptions): Promise<KongStandIn> {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://kong');
    requests.push(request.url ?? '');
    if (options.instead?.(request, response, url.pathname) === true) return;
    const { status, body } = answerOf(options, request, url);
    response.writeHead(status, {
      'Content-Type': 'application/json; charset=utf-8',
      'X-Kong-Admin-Latency': '1',
      Server: `kong/${options.version ?? '3.9.1'}`,
    });
    response.end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    server,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function answerOf(options: StandInOptions, request: IncomingMessage, url: URL): { status: number; body: unknown } {
  const { rows, version = '3.9.1', pageSize = 2, token, statuses = {} } = options;
  if (token !== undefined && request.headers['kong-admin-token'] !== token) {
    return { status: 401, body: { message: 'Invalid RBAC credentials' } };
  }
  const status = statuses[url.pathname];
  if (status !== undefined) return { status, body: { message: 'not for you' } };
  if (url.pathname === '/') {
    const configuration = { database: 'postgres', router_flavor: 'traditional_compatible' };
    return { status: 200, body: { tagline: 'Welcome to kong', version, edition: 'community', configuration } };
  }
  const all = rows[url.pathname];
  if (all === undefined) return { status: 404, body: { message: 'Not found' } };
  const offset = url.searchParams.get('offset');
  const from = offset === null ? 0 : Number(JSON.parse(Buffer.from(offset, 'base64').toString('utf8')));
  const end = from + pageSize;
  // Lua has no empty list.
  const data = all.length === 0 ? {} : all.slice(from, end);
  if (end >= all.length) return { status: 200, body: { data, next: null } };
  const next = Buffer.from(JSON.stringify(end)).toString('base64');
  return { status: 200, body: { data, next: `${url.pathname}?offset=${encodeURIComponent(next)}`, offset: next } };
}
