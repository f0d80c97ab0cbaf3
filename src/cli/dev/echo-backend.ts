import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CodeProblem } from '../../shared/development/code-problem.ts';
import { problemPage } from '../../shared/development/problem-page.ts';
import { nodeHttp } from '../../shared/util/node-http.ts';

/** The backend behind the example route: it answers with what it has received. */
export interface EchoBackend {
  readonly url: string;
  /** Answers with this problem instead; null: no longer. */
  fail(problem: CodeProblem | null): void;
  close(): void;
}

/** Bytes of a body that the answer repeats. */
const maxBody = 64 * 1024;

export async function startEchoBackend(): Promise<EchoBackend> {
  let problem: CodeProblem | null = null;
  const server = nodeHttp.createServer((request, response) => {
    if (problem !== null) showProblem(problem, request, response);
    else void echo(request, response);
  });
  // A connection of the gateway may wait for a long time between two requests.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  const port = await listening(server, 0, '127.0.0.1');
  return {
    url: `http://127.0.0.1:${port}`,
    fail: (next) => {
      problem = next;
    },
    close: () => closeNow(server),
  };
}

/** Answers every request with a problem, where the gateway cannot start yet. Resolves when it listens; rejects when it cannot. */
export async function startProblemServer(
  { ip, port }: { readonly ip: string; readonly port: number },
  problem: () => CodeProblem,
): Promise<{ readonly port: number; close(): Promise<void> }> {
  const server = nodeHttp.createServer((request, response) => showProblem(problem(), request, response));
  const bound = await listening(server, port, ip);
  return {
    port: bound,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const piece of request as AsyncIterable<Buffer>) {
      if (bytes < maxBody) pieces.push(piece.subarray(0, maxBody - bytes));
      bytes += piece.byteLength;
    }
  } catch {
    return;
  }
  const { method, url, headers } = request;
  const body = Buffer.concat(pieces).toString();
  const seen = { method, url, headers, ...(bytes > 0 && { body, body_bytes: bytes }) };
  response.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' });
  response.end(`${JSON.stringify({ message: 'this is what the backend has received', ...seen }, null, 2)}\n`);
}

function showProblem(problem: CodeProblem, request: IncomingMessage, response: ServerResponse): void {
  const { headers, body } = problemPage(problem, request.headers.accept ?? null);
  request.resume();
  response.writeHead(500, headers).end(body);
}

async function listening(server: Server, port: number, ip: string): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, ip, resolve);
  });
  return (server.address() as AddressInfo).port;
}

function closeNow(server: Server): void {
  server.close();
  server.closeAllConnections();
}
