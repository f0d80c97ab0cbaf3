import { type ClientRequest, type IncomingMessage, request as plainRequest } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { isIP } from 'node:net';
import { CliError } from '../cli-error.ts';
import type { Door } from './find-door.ts';
import { type Explanation, readExplanation } from './read-explanation.ts';

export interface ExplainRequest {
  readonly method: string;
  /** Path and query, escaped. */
  readonly path: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Buffer | null;
  /** It comes over TLS. */
  readonly secure: boolean;
  readonly dry: boolean;
}

const deadline = 120_000;
/** Bytes of an explanation; the gateway keeps them far below. */
const largest = 16 * 1024 * 1024;

/** Sends the request and reads what the gateway tells of it. Rejects with a `CliError`. */
export async function askGateway(request: ExplainRequest, door: Door): Promise<Explanation> {
  const { status, body } = await send(request, door).catch((error: unknown) => {
    throw error instanceof CliError ? error : new CliError(`no answer from ${placeOf(door)}: ${reasonOf(error)}`);
  });
  const explanation = readExplanation(body);
  if (explanation !== null) return explanation;
  throw new CliError(
    `${placeOf(door)} has answered ${status} without an explanation: the token is not its own, or request_debug is off there`,
  );
}

function send(request: ExplainRequest, door: Door): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const sent = open(request, door, (answer) => {
      collect(answer).then((body) => resolve({ status: answer.statusCode ?? 0, body }), reject);
    });
    sent.setTimeout(deadline, () => sent.destroy(new Error('nothing came for two minutes')));
    sent.on('error', reject);
    sent.end(request.body ?? undefined);
  });
}

function open(request: ExplainRequest, door: Door, answered: (answer: IncomingMessage) => void): ClientRequest {
  // An answer to HEAD would have no place for the explanation.
  const head = request.method === 'HEAD';
  const mode = `${request.dry ? 'dry' : '1'}${head ? '; method=HEAD' : ''}`;
  const host = request.headers.find(([name]) => name.toLowerCase() === 'host')?.[1] ?? null;
  const length = request.body?.byteLength ?? 0;
  const headers = [
    ...(host === null ? [['Host', hostOf(door)]] : []),
    ...request.headers,
    ['X-Sluicegate-Explain', mode],
    ['X-Sluicegate-Debug-Token', door.token],
    ...(has(request, 'connection') ? [] : [['Connection', 'close']]),
    ...(request.body === null && bodiless.has(request.method) ? [] : [['Content-Length', String(length)]]),
  ];
  const common = {
    host: door.host,
    port: door.port,
    method: head ? 'GET' : request.method,
    path: request.path,
    headers: headers.flat(),
    setHost: false,
    agent: false,
  };
  if (!door.secure) return plainRequest(common, answered);
  const name = (host ?? door.host).replace(/:\d*$/, '');
  return tlsRequest(
    { ...common, rejectUnauthorized: door.verify, ...(isIP(name) === 0 ? { servername: name } : {}) },
    answered,
  );
}

/** Methods of which nobody expects a body. */
const bodiless: ReadonlySet<string> = new Set(['GET', 'HEAD', 'DELETE', 'OPTIONS']);

function has({ headers }: ExplainRequest, name: string): boolean {
  return headers.some(([one]) => one.toLowerCase() === name);
}

async function collect(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let size = 0;
  for await (const piece of answer) {
    size += (piece as Buffer).byteLength;
    if (size > largest) throw new CliError('the answer is too long to be an explanation');
    pieces.push(piece as Buffer);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function placeOf(door: Door): string {
  return `${door.secure ? 'https' : 'http'}://${hostOf(door)}`;
}

function hostOf({ host, port }: Door): string {
  return `${isIP(host) === 6 ? `[${host}]` : host}:${port}`;
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.message || ('code' in error ? String(error.code) : error.name);
}
