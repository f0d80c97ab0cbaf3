import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { ByteReader, EndedEarly } from './byte-reader.ts';
import './file-end.ts';
import { type MessageBody, type MessageHead, readBody, readHead } from './http-message.ts';

/** A request as the backend received it. */
export interface BackendRequest extends MessageHead, MessageBody {
  readonly method: string;
  readonly target: string;
  readonly connection: BackendConnection;
}

/** How a backend handles one connection. */
export type BackendScript = (connection: BackendConnection) => Promise<void> | void;

/** One connection of a raw backend; the script drives it. */
export class BackendConnection {
  readonly socket: Socket;
  readonly reader: ByteReader;
  /** Index among the backend's connections, from 0. */
  readonly serial: number;
  /** Settles when the gateway has closed its side or the connection is gone. */
  readonly closed: Promise<void>;
  readonly #backend: RawBackend;

  constructor(socket: Socket, serial: number, backend: RawBackend) {
    this.socket = socket;
    this.serial = serial;
    this.#backend = backend;
    this.reader = new ByteReader(socket);
    this.closed = new Promise((resolve) => {
      socket.on('end', resolve);
      socket.on('close', () => resolve());
    });
  }

  /** Exactly what the gateway sent on this connection. */
  get received(): string {
    return this.reader.received;
  }

  async readRequestHead(): Promise<MessageHead> {
    return await readHead(this.reader, idleWait);
  }

  /** Reads one request with its body and adds it to the backend's list. */
  async readRequest(): Promise<BackendRequest> {
    const head = await this.readRequestHead();
    const body = await readBody(this.reader, head, 'request');
    const [method = '', target = ''] = head.startLine.split(' ');
    const request = { ...head, ...body, method, target, connection: this };
    this.#backend.record(request);
    return request;
  }

  write(bytes: string | Uint8Array): void {
    if (this.socket.writable) this.socket.write(typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes);
  }

  /** Writes and closes the sending side. */
  end(bytes = ''): void {
    this.socket.end(Buffer.from(bytes, 'latin1'));
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }
}

/** A backend that answers with scripted bytes and records what it received. */
export class RawBackend {
  readonly server: Server;
  readonly connections: BackendConnection[] = [];
  readonly requests: BackendRequest[] = [];
  /** Errors of the script. A test that expects none should check this. */
  readonly scriptErrors: Error[] = [];
  #waiters: { test: (request: BackendRequest) => boolean; resolve: (request: BackendRequest) => void }[] = [];

  constructor(script: BackendScript) {
    this.server = createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
      socket.on('error', () => {});
      const connection = new BackendConnection(socket, this.connections.length, this);
      this.connections.push(connection);
      this.#run(script, connection);
    });
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** All bytes of all connections. */
  get received(): string {
    return this.connections.map((connection) => connection.received).join('');
  }

  /** The request with this index; waits until it arrives. */
  async request(test: (request: BackendRequest) => boolean): Promise<BackendRequest> {
    const known = this.requests.find(test);
    if (known !== undefined) return known;
    return await new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no such request; had ${this.requests.length}`)), 8_000);
      const done = (request: BackendRequest): void => {
        clearTimeout(timer);
        resolve(request);
      };
      this.#waiters.push({ test, resolve: done });
    });
  }

  record(request: BackendRequest): void {
    this.requests.push(request);
    this.#waiters = this.#waiters.filter((waiter) => {
      if (!waiter.test(request)) return true;
      waiter.resolve(request);
      return false;
    });
  }

  async close(): Promise<void> {
    for (const connection of this.connections) connection.socket.destroy();
    this.server.close();
    await once(this.server, 'close');
  }

  async #run(script: BackendScript, connection: BackendConnection): Promise<void> {
    try {
      await script(connection);
    } catch (error) {
      // A script ends normally when the gateway closes an idle or broken connection.
      if (!(error instanceof EndedEarly) || error.received !== '') this.scriptErrors.push(error as Error);
      connection.socket.destroy();
    }
  }
}

/** How long a script waits for the next request on an idle connection. */
const idleWait = 120_000;

export async function startRawBackend(script: BackendScript = answerEach()): Promise<RawBackend> {
  const backend = new RawBackend(script);
  backend.server.listen(0, '127.0.0.1');
  await once(backend.server, 'listening');
  return backend;
}

/** A complete answer with a declared length. */
export function answer(body: string, headers = '', status = '200 OK'): string {
  return `HTTP/1.1 ${status}\r\nContent-Length: ${body.length}\r\n${headers}\r\n${body}`;
}

/** A script that reads request after request and answers each; null leaves it unanswered. */
export function answerEach(
  toAnswer: (request: BackendRequest) => string | null | Promise<string | null> = () => answer('ok'),
): BackendScript {
  return async function answerRequests(connection) {
    for (;;) {
      const request = await connection.readRequest();
      const bytes = await toAnswer(request);
      if (bytes !== null) connection.write(bytes);
    }
  };
}

/** A script chosen by the first request's path: `/name?...` runs `scripts.name` with the request already read. */
export function byName(
  scripts: Readonly<Record<string, (connection: BackendConnection, request: BackendRequest) => Promise<void> | void>>,
): BackendScript {
  return async function runNamed(connection) {
    for (;;) {
      const request = await connection.readRequest();
      const name = decodeURIComponent(/^\/([^/?]*)/.exec(request.target)?.[1] ?? '');
      const script = scripts[name];
      if (script === undefined) connection.write(answer(`no script ${name}`, '', '404 Not Found'));
      else await script(connection, request);
    }
  };
}
