import type { IncomingMessage, RequestOptions } from 'node:http';
import { asSocket, type MemorySocket } from '../../../shared/util/net/memory-socket.ts';
import { nodeHttp } from '../../../shared/util/node-http.ts';
import { answerHead, CollectedAnswer, type RecordOf } from './collected-answer.ts';
import type { GatewayRequest, RunningRequest } from './contract.ts';
import { PendingAnswer } from './pending-answer.ts';

/** What sends a request. */
export interface ClientParts {
  /** A new connection to the gateway. */
  readonly connect: () => MemorySocket;
  readonly recordOf: RecordOf;
  /** For the message of a request that gets no answer. */
  readonly why: () => string;
}

/** Sends a request with Node's own client, on a connection of its own. */
export function sendHttp1(request: GatewayRequest, { connect, recordOf, why }: ClientParts): RunningRequest {
  const socket = connect();
  const pending = new PendingAnswer(() => setImmediate(() => socket.destroy()), why);
  const { method = 'GET', path = '/', body, streamed = false } = request;
  const message = nodeHttp.request({
    createConnection: () => asSocket(socket),
    method,
    path,
    headers: fieldsOf(request),
    setHost: false,
    maxHeaderSize: 1_048_576,
  } as RequestOptions);
  let begun = false;
  message.on('error', (error: NodeJS.ErrnoException) => {
    // Otherwise the end of the answer says that it is not complete.
    if (!begun) pending.failed(`the connection ended without an answer: ${error.code ?? error.message}`);
  });
  message.on('response', (response: IncomingMessage) => {
    const head = answerHead(response.statusCode ?? 0, response.rawHeaders);
    const answer = new CollectedAnswer(head, '1.1', recordOf);
    begun = true;
    pending.begun(head);
    response.on('data', (piece: Buffer) => answer.add(piece));
    response.on('error', () => {});
    response.on('close', () =>
      pending.complete(answer.end(response.complete, response.trailers as Record<string, string>)),
    );
  });
  message.on('upgrade', (response: IncomingMessage) => {
    const head = answerHead(response.statusCode ?? 0, response.rawHeaders);
    pending.begun(head);
    pending.complete(new CollectedAnswer(head, '1.1', recordOf).end(true, {}));
  });
  if (streamed) message.flushHeaders();
  else if (body === undefined) message.end();
  else if (typeof body === 'string' || body instanceof Uint8Array) message.end(body);
  else {
    for (const piece of body) message.write(piece);
    message.end();
  }
  return {
    head: pending.head.promise,
    answer: pending.answer.promise,
    write: (piece) => void message.write(piece),
    end: () => void message.end(),
    abort: () => {
      pending.failed('the client has aborted the request');
      message.destroy();
      socket.destroy();
    },
  };
}

function fieldsOf({ headers = {}, body, streamed = false }: GatewayRequest): Record<string, string | string[]> {
  const fields: Record<string, string | string[]> = Object.create(null);
  const names = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  if (!names.has('host')) fields['Host'] = 'test.example';
  if (!names.has('connection')) fields['Connection'] = 'keep-alive';
  for (const [name, value] of Object.entries(headers)) fields[name] = typeof value === 'string' ? value : [...value];
  const framed = names.has('content-length') || names.has('transfer-encoding');
  if (framed || (body === undefined && !streamed)) return fields;
  if (typeof body === 'string') fields['Content-Length'] = String(Buffer.byteLength(body));
  else if (body instanceof Uint8Array) fields['Content-Length'] = String(body.byteLength);
  else fields['Transfer-Encoding'] = 'chunked';
  return fields;
}
