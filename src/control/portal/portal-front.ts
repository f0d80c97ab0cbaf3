import type { IncomingMessage, ServerResponse } from 'node:http';
import { canonicalIp } from '../../shared/util/net/ip-address.ts';
import { TrustedPeers } from '../../shared/util/net/trusted-peers.ts';
import { forwardedClient } from '../admin/audit/origin.ts';
import type { RequestFront } from '../admin/http/fronted-server.ts';
import { apiHeaders, pageHeaders } from '../dashboard/security-headers.ts';
import { PortalApi } from './portal-api.ts';
import type { PortalFiles } from './portal-files.ts';
import { jsonReply, type PortalDependencies, type PortalReply, type PortalRequest } from './portal-request.ts';

const base = '/portal/';
const apiBase = `${base}api/`;
/** Milliseconds for which a client may read an answer: the longest are some megabytes. */
const writeTimeout = 60_000;

/** Answers every request to the listener of the portal itself: no request reaches another route. */
export function createPortalFront(deps: PortalDependencies, files: PortalFiles): RequestFront {
  const api = new PortalApi(deps);
  const trusted = new TrustedPeers(deps.settings.trustedIps);

  async function reply(request: PortalRequest): Promise<PortalReply> {
    const { method, url = '' } = request;
    if (method !== 'GET' && method !== 'HEAD') {
      return jsonReply(405, { message: 'Method not allowed' }, { allow: 'GET, HEAD' });
    }
    const [path = '', query = ''] = url.split('?', 2);
    // The path is compared as it was sent: nothing is decoded or normalised, so no other spelling of a path exists.
    if (path.startsWith(apiBase)) return api.reply(request, path.slice(apiBase.length), new URLSearchParams(query));
    if (path === '/' || path === '/portal') return { status: 302, headers: { location: base }, body: Buffer.alloc(0) };
    const found = path.startsWith(base) ? files.reply(request, path.slice(base.length)) : null;
    return found ?? jsonReply(404, { message: 'Not found' });
  }

  return (message, response) => {
    const deadline = setTimeout(() => response.destroy(), writeTimeout).unref();
    response.once('close', () => clearTimeout(deadline));
    const isApi = message.url?.startsWith(apiBase) === true;
    for (const [name, value] of Object.entries(isApi ? apiHeaders : pageHeaders)) response.setHeader(name, value);
    const { method, url, headers, socket } = message;
    const peer = canonicalIp(socket.remoteAddress ?? '') ?? '';
    const client = forwardedClient(peer, headers['x-forwarded-for'], trusted);
    reply({ method, url, headers, client }).then(
      (answer) => send(message, response, answer),
      (error: unknown) => {
        deps.log.error(`${method} of the portal failed`, error);
        send(message, response, jsonReply(500, { message: 'An unexpected error occurred' }));
      },
    );
  };
}

function send({ method }: IncomingMessage, response: ServerResponse, { status, headers, body }: PortalReply): void {
  if (response.destroyed) return;
  response.writeHead(status, { ...headers, 'content-length': body.length });
  response.end(method === 'HEAD' ? undefined : body);
}
