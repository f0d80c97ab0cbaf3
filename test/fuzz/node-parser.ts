import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { pairs, type Reading, type ReadMessage } from './message.ts';

/** A socket that reads a string and then ends. What is written to it is dropped. */
class MemorySocket extends Duplex {
  constructor(bytes: string | null) {
    super({ allowHalfOpen: true });
    if (bytes !== null) this.feed(bytes);
  }

  feed(bytes: string): void {
    if (bytes !== '') this.push(Buffer.from(bytes, 'latin1'));
    this.push(null);
  }

  override _read(): void {}

  override _write(_chunk: unknown, _encoding: string, done: () => void): void {
    done();
  }

  setTimeout(): this {
    return this;
  }
  setNoDelay(): this {
    return this;
  }
  setKeepAlive(): this {
    return this;
  }
  ref(): this {
    return this;
  }
  unref(): this {
    return this;
  }
}

/** Node's HTTP server (llhttp, strict), fed from memory. */
export class NodeRequestParser {
  readonly #server: Server;
  readonly #refusals = new WeakMap<object, Error & { code?: string }>();
  readonly #arrivals = new WeakMap<object, (request: IncomingMessage, response: ServerResponse) => void>();

  constructor() {
    this.#server = createServer({
      insecureHTTPParser: false,
      keepAliveTimeout: 0,
      requestTimeout: 0,
      headersTimeout: 0,
    });
    // Without this the end of the bytes would abort complete requests that are not yet emitted.
    (this.#server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
    const arrived = (incoming: IncomingMessage, outgoing: ServerResponse): void =>
      this.#arrivals.get(incoming.socket)?.(incoming, outgoing);
    this.#server.on('request', arrived);
    this.#server.on('checkContinue', arrived);
    this.#server.on('checkExpectation', arrived);
    this.#server.on('clientError', (error: Error & { code?: string }, socket) => {
      if (!this.#refusals.has(socket)) this.#refusals.set(socket, error);
      socket.destroy();
    });
    this.#server.on('dropRequest', () => {});
  }

  async read(bytes: string): Promise<Reading> {
    const socket = new MemorySocket(null);
    const seen: { incoming: IncomingMessage; body: string }[] = [];
    this.#arrivals.set(socket, (incoming, outgoing) => {
      const entry = { incoming, body: '' };
      seen.push(entry);
      incoming.on('data', (chunk: Buffer) => {
        entry.body += chunk.toString('latin1');
      });
      incoming.on('error', () => {});
      incoming.on('end', () => outgoing.end());
    });
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    this.#server.emit('connection', socket as unknown as Socket);
    socket.feed(bytes);
    await withDeadline(closed, socket);
    const complete = seen.filter((entry) => entry.incoming.complete);
    const messages = complete.map(
      ({ incoming, body }): ReadMessage => ({
        start: `${incoming.method} ${incoming.url}`,
        version: incoming.httpVersion,
        headers: pairs(incoming.rawHeaders),
        body,
      }),
    );
    const refusal = this.#refusals.get(socket);
    const reason = refusal?.code ?? refusal?.message ?? '';
    if (refusal !== undefined && reason !== 'HPE_INVALID_EOF_STATE')
      return { messages, outcome: 'refused', reason, at: -1 };
    return {
      messages,
      outcome: complete.length < seen.length || refusal !== undefined ? 'incomplete' : 'end',
      reason,
      at: -1,
    };
  }
}

/** Node's HTTP client (llhttp, strict), which reads `bytes` as the answer to a GET. */
export async function readNodeResponse(bytes: string): Promise<Reading> {
  const socket = new MemorySocket(null);
  const messages: ReadMessage[] = [];
  return await new Promise<Reading>((resolve) => {
    const timer = setTimeout(() => done('incomplete', 'timeout'), 2_000);
    const done = (outcome: Reading['outcome'], reason: string): void => {
      clearTimeout(timer);
      resolve({ messages, outcome, reason, at: -1 });
      outgoing.destroy();
      socket.destroy();
    };
    const outgoing = request({
      method: 'GET',
      host: 'h',
      insecureHTTPParser: false,
      createConnection: () => socket as unknown as Socket,
    });
    outgoing.on('error', (error: Error & { code?: string }) => {
      const cut = error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE';
      done(cut ? 'incomplete' : 'refused', error.code ?? error.message);
    });
    outgoing.on('information', (info) => {
      messages.push({
        start: String(info.statusCode),
        version: info.httpVersion,
        headers: pairs(info.rawHeaders),
        body: '',
      });
    });
    outgoing.on('upgrade', (incoming) => {
      messages.push({ start: '101', version: incoming.httpVersion, headers: pairs(incoming.rawHeaders), body: '' });
      done('end', '');
    });
    outgoing.on('response', (incoming) => {
      let body = '';
      incoming.on('data', (chunk: Buffer) => {
        body += chunk.toString('latin1');
      });
      incoming.on('error', (error: Error & { code?: string }) => {
        const cut = error.code === 'ECONNRESET' || error.code === 'HPE_INVALID_EOF_STATE';
        done(cut ? 'incomplete' : 'refused', error.code ?? error.message);
      });
      incoming.on('end', () => {
        if (!incoming.complete) return;
        messages.push({
          start: String(incoming.statusCode),
          version: incoming.httpVersion,
          headers: pairs(incoming.rawHeaders),
          body,
        });
        done('end', '');
      });
    });
    outgoing.end();
    outgoing.once('finish', () => socket.feed(bytes));
  });
}

async function withDeadline(promise: Promise<void>, socket: Duplex): Promise<void> {
  const timer = setTimeout(() => socket.destroy(), 2_000);
  await promise;
  clearTimeout(timer);
}
