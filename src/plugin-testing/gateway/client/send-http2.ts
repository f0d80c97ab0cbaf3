import { connect as connectHttp2, constants, type OutgoingHttpHeaders } from 'node:http2';
import { asSocket } from '../../../shared/util/net/memory-socket.ts';
import { answerHead, CollectedAnswer } from './collected-answer.ts';
import type { GatewayRequest, RunningRequest } from './contract.ts';
import { PendingAnswer } from './pending-answer.ts';
import type { ClientParts } from './send-http1.ts';

/** Sends a request with Node's own HTTP/2 client, on a session of its own. */
export function sendHttp2(request: GatewayRequest, { connect, recordOf, why }: ClientParts): RunningRequest {
  const socket = connect();
  const { body, scheme = 'http', streamed = false } = request;
  const session = connectHttp2(`${scheme}://test.example`, { createConnection: () => asSocket(socket) });
  const pending = new PendingAnswer(() => {
    setImmediate(() => {
      session.destroy();
      socket.destroy();
    });
  }, why);
  session.on('error', (error: NodeJS.ErrnoException) =>
    pending.failed(`the session ended: ${error.code ?? error.message}`),
  );
  session.on('close', () => pending.failed('the session ended without an answer'));
  const stream = session.request(fieldsOf(request), { endStream: body === undefined && !streamed });
  let answer: CollectedAnswer | null = null;
  let trailers: Readonly<Record<string, string>> = {};
  stream.on('response', (headers) => {
    const fields = Object.entries(headers).flatMap(([name, value]) =>
      name.startsWith(':') ? [] : [value].flat().flatMap((one) => [name, String(one)]),
    );
    const head = answerHead(Number(headers[':status']), fields);
    const collected = new CollectedAnswer(head, '2', recordOf);
    answer = collected;
    pending.begun(head);
    // Not earlier: what arrives together with the head would be emitted before it.
    stream.on('data', (piece: Buffer) => collected.add(piece));
  });
  stream.on('trailers', (fields) => {
    trailers = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, String(value)]));
  });
  stream.on('end', () => {
    // The gateway may have answered before it has read the whole body, which leaves the stream open.
    if (answer !== null && stream.rstCode === constants.NGHTTP2_NO_ERROR) pending.complete(answer.end(true, trailers));
  });
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (answer === null) pending.failed(`the stream ended without an answer: ${error.message}`);
  });
  stream.on('close', () => {
    if (answer === null) pending.failed('the stream ended without an answer');
    else if (!pending.settled) pending.complete(answer.end(false, trailers));
  });
  if (typeof body === 'string' || body instanceof Uint8Array) stream.end(body);
  else if (body !== undefined) {
    for (const piece of body) stream.write(piece);
    stream.end();
  }
  return {
    head: pending.head.promise,
    answer: pending.answer.promise,
    write: (piece) => void stream.write(piece),
    end: () => void stream.end(),
    abort: () => {
      pending.failed('the client has aborted the request');
      stream.close(constants.NGHTTP2_CANCEL);
    },
  };
}

function fieldsOf({ method = 'GET', path = '/', headers = {}, scheme = 'http' }: GatewayRequest): OutgoingHttpHeaders {
  const fields: Record<string, string | string[]> = Object.create(null);
  fields[':method'] = method;
  fields[':path'] = path;
  fields[':scheme'] = scheme;
  fields[':authority'] = 'test.example';
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    // The fields of a connection have no place in HTTP/2.
    if (lower === 'connection' || lower === 'transfer-encoding') continue;
    fields[lower === 'host' ? ':authority' : lower] = typeof value === 'string' ? value : [...value];
  }
  return fields;
}
