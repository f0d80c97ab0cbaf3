import type { Socket } from 'node:net';
import { reasonPhrases } from '../../../shared/http/reason-phrases.ts';

/** What Node.js reports for bytes that it cannot parse as a request. */
export interface ClientError {
  readonly code: string;
  /** A `Buffer`, unlike Fastify's type for it. */
  readonly rawPacket?: unknown;
}

interface AnsweringSocket extends Socket {
  /** The answer that Node's server is writing. */
  readonly _httpMessage?: { readonly headersSent: boolean } | null;
}

/** Answers bytes that could not be parsed as a request, and closes the connection. */
export function answerClientError(error: ClientError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return;
  // An answer that has begun cannot become another one.
  if ((socket as AnsweringSocket)._httpMessage?.headersSent === true) {
    socket.destroy();
    return;
  }
  const status = statusOf(error);
  const body = clientErrorBody(status);
  if (socket.writable) {
    socket.write(
      `HTTP/1.1 ${status} ${reasonPhrases[status]}\r\nContent-Type: application/json; charset=utf-8\r\n` +
        `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    );
  }
  socket.destroySoon();
}

/** The body of an answer to what is not a valid request: JSON. */
export function clientErrorBody(status: number): string {
  return JSON.stringify({ message: messages[status] ?? 'Bad request' });
}

const messages: Readonly<Record<number, string>> = {
  405: 'Method not allowed',
  408: 'Request timeout',
  431: 'Request header fields too large',
  501: 'Method not implemented',
};

/** A complete request line with nothing wrong but an unknown method. */
const unknownMethod = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100} \S{1,8192} HTTP\/1\.[01]\r?\n/;

function statusOf({ code, rawPacket }: ClientError): number {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 408;
  if (code === 'HPE_HEADER_OVERFLOW') return 431;
  if (code !== 'HPE_INVALID_METHOD' || !Buffer.isBuffer(rawPacket)) return 400;
  return unknownMethod.test(rawPacket.toString('latin1', 0, 8400)) ? 501 : 400;
}
