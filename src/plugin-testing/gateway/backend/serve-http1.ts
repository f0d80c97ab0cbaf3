import type { IncomingMessage, ServerResponse } from 'node:http';
import { asSocket, type MemorySocket } from '../../../shared/util/net/memory-socket.ts';
import { nodeHttp } from '../../../shared/util/node-http.ts';
import type { BackendAnswer, BackendFailure } from './contract.ts';
import { Received } from './received.ts';
import { sendOutcome } from './send-answer.ts';

/** What serves the connections of backends. */
export interface BackendService {
  /** The head of a request is there. */
  begun(request: Received): void;
  answer(request: Received): Promise<BackendAnswer | BackendFailure>;
}

/** Serves one connection with Node's own HTTP, whose parser shares nothing with that of the gateway. */
export function serveHttp1(socket: MemorySocket, address: string, service: BackendService): void {
  const server = nodeHttp.createServer({ keepAliveTimeout: 0, requestTimeout: 0, maxHeaderSize: 1_048_576 });
  server.headersTimeout = 0;
  let serial = 0;
  const receive = (message: IncomingMessage): Received => {
    serial++;
    const { method = '', url: path = '', rawHeaders } = message;
    const received = new Received({ method, path, httpVersion: '1.1', address, serial }, rawHeaders);
    service.begun(received);
    message.on('error', () => {});
    return received;
  };
  server.on('request', (message: IncomingMessage, response: ServerResponse) => {
    const received = receive(message);
    response.on('error', () => {});
    message.on('data', (piece: Buffer) => received.add(piece));
    message.on('end', () => {
      received.complete = true;
      void service.answer(received).then((outcome) => {
        if (!socket.destroyed) return sendOutcome({ response, socket }, outcome);
      });
    });
  });
  server.on('upgrade', (message: IncomingMessage) => {
    const received = receive(message);
    received.complete = true;
    void service.answer(received).then((outcome) => upgrade(socket, outcome));
  });
  server.on('clientError', () => socket.destroy());
  server.emit('connection', asSocket(socket));
}

function upgrade(socket: MemorySocket, outcome: BackendAnswer | BackendFailure): void {
  if (outcome === 'hang') return;
  if (outcome === 'reset') socket.resetAndDestroy();
  else if (outcome === 'close') socket.destroy();
  else if ('raw' in outcome) {
    socket.write(typeof outcome.raw === 'string' ? Buffer.from(outcome.raw, 'latin1') : outcome.raw);
    socket.destroy();
  } else {
    const { status = 200, headers = {}, body = '', tunnel } = outcome;
    const text = typeof body === 'string' || body instanceof Uint8Array ? Buffer.from(body as string) : Buffer.alloc(0);
    const framing = status === 101 ? '' : `content-length: ${text.byteLength}\r\nconnection: close\r\n`;
    const lines = Object.entries(headers).flatMap(([name, value]) =>
      (typeof value === 'string' ? [value] : value).map((one) => `${name}: ${one}\r\n`),
    );
    socket.write(
      Buffer.from(
        `HTTP/1.1 ${status} ${nodeHttp.STATUS_CODES[status] ?? ''}\r\n${lines.join('')}${framing}\r\n`,
        'latin1',
      ),
    );
    if (status !== 101) socket.end(text);
    else if (tunnel === undefined)
      socket.on('data', (data: Buffer) => socket.write(data)).on('end', () => socket.end());
    else tunnel(socket);
  }
}
