import type { ClientRequest, IncomingMessage } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import { nodeHttp } from '../util/node-http.ts';
import { type ExplainedRequest, headerOf } from './explained-request.ts';

/** Where a request is sent, and the debug token that authorises its explanation. */
export interface ExplainingEndpoint {
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
  /** Check the certificate against the host. */
  readonly verify: boolean;
  readonly token: string;
}

export interface SendOptions {
  /** Further parameters of `X-Sluicegate-Explain`: `; body=1000`. Default: none. */
  readonly parameters?: string;
  /** Milliseconds without a byte of the answer. */
  readonly idleTimeout: number;
  /** Maximum bytes of the answer. */
  readonly maxAnswer: number;
  /** Cancels the request. Default: nothing does. */
  readonly signal?: AbortSignal;
}

export interface ExplainedAnswer {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly body: Buffer;
}

/** Sends the request on a connection of its own; redirects are not followed. Rejects with the error of the connection. */
export function sendExplained(
  request: ExplainedRequest,
  endpoint: ExplainingEndpoint,
  options: SendOptions,
): Promise<ExplainedAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<ExplainedAnswer>();
  const sent = open(request, endpoint, options, (answer) => {
    collect(answer, options.maxAnswer).then(
      (body) => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body }),
      (error: unknown) => {
        sent.destroy();
        reject(error);
      },
    );
  });
  const { idleTimeout } = options;
  sent.setTimeout(idleTimeout, () => sent.destroy(new Error(`no data for ${idleTimeout / 1000} s`)));
  sent.on('error', reject);
  sent.end(request.body ?? undefined);
  return promise;
}

function open(
  request: ExplainedRequest,
  endpoint: ExplainingEndpoint,
  { parameters = '', signal }: SendOptions,
  answered: (answer: IncomingMessage) => void,
): ClientRequest {
  // An answer to HEAD has no body, which the explanation needs.
  const head = request.method === 'HEAD';
  const mode = `${request.dry ? 'dry' : '1'}${head ? '; method=HEAD' : ''}${parameters}`;
  const host = headerOf(request, 'host');
  const length = request.body?.byteLength ?? 0;
  const headers = [
    ...(host === null ? [['Host', hostOf(endpoint)]] : []),
    ...request.headers,
    ['X-Sluicegate-Explain', mode],
    ['X-Sluicegate-Debug-Token', endpoint.token],
    ...(headerOf(request, 'connection') === null ? [['Connection', 'close']] : []),
    ...(request.body === null && bodiless.has(request.method) ? [] : [['Content-Length', String(length)]]),
  ];
  const common = {
    host: endpoint.host,
    port: endpoint.port,
    method: head ? 'GET' : request.method,
    path: request.path,
    headers: headers.flat(),
    setHost: false,
    agent: false,
    ...(signal === undefined ? {} : { signal }),
  };
  if (!endpoint.secure) return nodeHttp.request(common, answered);
  const name = (host ?? endpoint.host).replace(/:\d*$/, '');
  return tlsRequest(
    { ...common, rejectUnauthorized: endpoint.verify, ...(isIP(name) === 0 ? { servername: name } : {}) },
    answered,
  );
}

/** Methods that usually have no body. */
const bodiless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

async function collect(answer: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer) {
    size += (piece as Buffer).byteLength;
    if (size > maxBytes) throw new Error('the answer is too long to be an explanation');
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces);
}

/** `127.0.0.1:8000`, `[::1]:8000` */
export function hostOf({ host, port }: Pick<ExplainingEndpoint, 'host' | 'port'>): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}
