import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import { CliError } from '../cli-error.ts';
import { type Explanation, readExplanation } from './read-explanation.ts';
import type { ProxyEndpoint } from './resolve-proxy.ts';

export interface ExplainRequest {
  readonly method: string;
  /** Path and query, escaped. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
  /** The request is sent with TLS. */
  readonly secure: boolean;
  readonly dry: boolean;
}

/** Milliseconds without a byte of the answer. */
const answerTimeout = 120_000;
/** Maximum bytes of an explanation; the gateway's own limit is far lower. */
const maxExplanation = 16 * 1024 * 1024;

/** Sends the request and reads the explanation of the gateway. Rejects with a `CliError`. */
export async function requestExplanation(request: ExplainRequest, endpoint: ProxyEndpoint): Promise<Explanation> {
  const { status, body } = await send(request, endpoint).catch((error: unknown) => {
    throw error instanceof CliError ? error : new CliError(`no answer from ${urlOf(endpoint)}: ${reasonOf(error)}`);
  });
  const explanation = readExplanation(body);
  if (explanation !== null) return explanation;
  throw new CliError(
    `${urlOf(endpoint)} answered ${status} without an explanation: the token is not valid, or request_debug is off`,
  );
}

function send(
  request: ExplainRequest,
  endpoint: ProxyEndpoint,
): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = open(request, endpoint, (answer) => {
      collect(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
    });
    sent.setTimeout(answerTimeout, () => sent.destroy(new Error('no data for two minutes')));
    sent.on('error', reject);
    sent.end(request.body ?? undefined);
  });
}

function open(
  request: ExplainRequest,
  endpoint: ProxyEndpoint,
  answered: (answer: IncomingMessage) => void,
): ClientRequest {
  // An answer to HEAD has no body, which the explanation needs.
  const head = request.method === 'HEAD';
  const mode = `${request.dry ? 'dry' : '1'}${head ? '; method=HEAD' : ''}`;
  const host = request.headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? null;
  const length = request.body?.byteLength ?? 0;
  const headers = [
    ...(host === null ? [['Host', hostOf(endpoint)]] : []),
    ...request.headers,
    ['X-Sluicegate-Explain', mode],
    ['X-Sluicegate-Debug-Token', endpoint.token],
    ...(has(request, 'connection') ? [] : [['Connection', 'close']]),
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
  };
  if (!endpoint.secure) return plainRequest(common, answered);
  const name = (host ?? endpoint.host).replace(/:\d*$/, '');
  return tlsRequest(
    { ...common, rejectUnauthorized: endpoint.verify, ...(isIP(name) === 0 ? { servername: name } : {}) },
    answered,
  );
}

/** Methods that usually have no body. */
const bodiless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

function has({ headers }: ExplainRequest, name: string): boolean {
  return headers.some(([one]) => one.toLowerCase() === name);
}

async function collect(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer) {
    size += (piece as Buffer).byteLength;
    if (size > maxExplanation) throw new CliError('the answer is too long to be an explanation');
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function urlOf(endpoint: ProxyEndpoint): string {
  return `${endpoint.secure ? 'https' : 'http'}://${hostOf(endpoint)}`;
}

function hostOf({ host, port }: ProxyEndpoint): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
