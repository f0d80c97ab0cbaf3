import { createServer, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2';
import { asSocket, type MemorySocket } from '../../../shared/util/net/memory-socket.ts';
import { Received } from './received.ts';
import { sendOutcome } from './send-answer.ts';
import type { BackendService } from './serve-http1.ts';

/** Serves one connection with Node's own HTTP/2, which shares nothing with the engine of the gateway. */
export function serveHttp2(socket: MemorySocket, address: string, service: BackendService): void {
  const server = createServer({ maxHeaderListPairs: 2_000 } as object);
  let serial = 0;
  server.on('request', (message: Http2ServerRequest, response: Http2ServerResponse) => {
    serial++;
    const { method, url: path, rawHeaders } = message;
    const received = new Received({ method, path, httpVersion: '2', address, serial }, rawHeaders);
    service.begun(received);
    message.on('error', () => {});
    response.on('error', () => {});
    response.stream.on('error', () => {});
    message.on('data', (piece: Buffer) => received.add(piece));
    message.on('end', () => {
      received.complete = true;
      void service.answer(received).then((outcome) => {
        if (!response.stream.destroyed) return sendOutcome({ response, socket: null }, outcome);
      });
    });
  });
  server.on('sessionError', () => socket.destroy());
  server.emit('connection', asSocket(socket));
}
