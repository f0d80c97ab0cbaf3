import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AdminLog } from '../admin/admin-log.ts';
import type { RequestFront } from '../admin/http/fronted-server.ts';
import { BuiltFiles } from './built-files.ts';
import { type PageReply, pageReply } from './page-replies.ts';
import { apiHeaders, pageHeaders } from './security-headers.ts';

export interface DashboardFrontOptions {
  /** The setting `admin_gui_path`. */
  readonly path: string;
  readonly log: Pick<AdminLog, 'error'>;
  /** Folder of the built files. Default: that of the clone or package. */
  readonly folder?: string;
}

/**
 * Serves the files of the dashboard, and passes requests below `<path>/api/` to the Admin API. The page and the API share an origin, so
 * the rules of the Admin API for its own pages apply, and a browser sends no preflight requests.
 */
export function createDashboardFront({ path, log, folder }: DashboardFrontOptions): RequestFront {
  const base = path === '/' ? '/' : `${path}/`;
  const files = new BuiltFiles(folder);

  function reply(request: IncomingMessage): PageReply {
    try {
      return pageReply(request, files, base);
    } catch (error) {
      log.error(`${request.method} ${request.url} of the dashboard failed`, error);
      return { status: 500, headers: { 'content-type': 'text/plain' }, body: Buffer.from('Unexpected error\n') };
    }
  }

  return (request, response, routes) => {
    const api = apiPath(request.url ?? '', base);
    if (api === null) return send(request, response, reply(request));
    setHeaders(response, apiHeaders);
    request.url = api;
    routes(request, response);
  };
}

/** `/services?size=1` of `/api/services?size=1`; null: the request is not for the Admin API. */
function apiPath(url: string, base: string): string | null {
  const prefix = `${base}api`;
  if (!url.startsWith(prefix)) return null;
  const rest = url.slice(prefix.length);
  if (rest === '' || rest.startsWith('?')) return `/${rest}`;
  return rest.startsWith('/') ? rest : null;
}

function send(request: IncomingMessage, response: ServerResponse, { status, headers, body }: PageReply): void {
  setHeaders(response, pageHeaders);
  response.writeHead(status, status === 304 ? headers : { ...headers, 'content-length': body.length });
  response.end(request.method === 'HEAD' ? undefined : body);
}

function setHeaders(response: ServerResponse, headers: Readonly<Record<string, string>>): void {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}
