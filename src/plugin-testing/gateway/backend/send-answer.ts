import type { ServerResponse } from 'node:http';
import type { Http2ServerResponse } from 'node:http2';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { MemorySocket } from '../../../shared/util/net/memory-socket.ts';
import type { BackendAnswer, BackendFailure, BackendHandler, HeaderFields, ReceivedRequest } from './contract.ts';

/** Where an answer goes. `socket`: the connection of HTTP/1.1; null: HTTP/2. */
export interface AnswerWay {
  readonly response: ServerResponse | Http2ServerResponse;
  readonly socket: MemorySocket | null;
}

/** What a handler returns, checked, so that a mistake in a test is an answer that says so. */
export async function outcomeOf(
  handler: BackendHandler,
  request: ReceivedRequest,
): Promise<BackendAnswer | BackendFailure> {
  try {
    const outcome: unknown = await handler(request);
    if (outcome === undefined || outcome === null) return {};
    return outcome as BackendAnswer;
  } catch (error) {
    return {
      status: 500,
      body: `the backend of the test failed: ${error instanceof Error ? error.stack : String(error)}`,
    };
  }
}

export async function sendOutcome(
  { response, socket }: AnswerWay,
  outcome: BackendAnswer | BackendFailure,
): Promise<void> {
  if (outcome === 'hang') return;
  if (outcome === 'reset' || outcome === 'close' || 'raw' in outcome) {
    fail({ response, socket }, outcome);
    return;
  }
  const { status = 200, headers = {}, body, trailers } = outcome;
  // Over HTTP/2 the reason and the fields of the connection have no place.
  if ('stream' in response) (response as Http2ServerResponse).writeHead(status, sent(headers, null));
  else (response as ServerResponse).writeHead(status, sent(headers, trailers === undefined ? (body ?? '') : null));
  await sendBody({ response, socket }, body);
  if (trailers !== undefined) response.addTrailers({ ...trailers });
  response.end();
}

function fail({ response, socket }: AnswerWay, failure: Exclude<BackendFailure, 'hang'>): void {
  if (socket === null) {
    (response as Http2ServerResponse).stream.close(2);
    return;
  }
  if (failure === 'reset') socket.resetAndDestroy();
  else if (failure === 'close') socket.destroy();
  else if (typeof failure === 'object') {
    socket.write(typeof failure.raw === 'string' ? Buffer.from(failure.raw, 'latin1') : failure.raw);
    socket.destroy();
  }
}

/** The fields of an answer, with the length of a body that is known. */
function sent(headers: HeaderFields, body: BackendAnswer['body'] | null): Record<string, string | string[]> {
  const fields = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : [...value]]),
  );
  const length = typeof body === 'string' ? Buffer.byteLength(body) : body instanceof Uint8Array ? body.byteLength : -1;
  const framed = Object.keys(headers).some((name) => /^(content-length|transfer-encoding)$/i.test(name));
  if (length >= 0 && !framed) fields['content-length'] = String(length);
  return fields;
}

async function sendBody({ response, socket }: AnswerWay, body: BackendAnswer['body']): Promise<void> {
  if (body === undefined || body === '') return;
  if (typeof body === 'string' || body instanceof Uint8Array) {
    writeTo(response, body);
    return;
  }
  try {
    for await (const piece of body) {
      if (response.destroyed) return;
      if (!writeTo(response, piece)) await drained(response);
    }
  } catch {
    // The backend breaks down in the middle of its answer: what it has sent before arrives.
    await nextTurn();
    if (socket === null) (response as Http2ServerResponse).stream.close(2);
    else socket.resetAndDestroy();
  }
}

function drained(response: AnswerWay['response']): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      response.off('drain', done);
      response.off('close', done);
      resolve();
    };
    response.once('drain', done);
    response.once('close', done);
  });
}

/** Both kinds of answer take the same, with types of their own. */
function writeTo(response: AnswerWay['response'], piece: string | Uint8Array): boolean {
  return (response as ServerResponse).write(piece);
}
