import type { Socket } from 'node:net';
import type { PoolAddress } from '../../../data/upstream/pool-address.ts';
import { asSocket, type MemorySocket, memoryConnection, socketError } from '../../../shared/util/net/memory-socket.ts';
import type { TestBackends } from '../options.ts';
import type { BackendHandler, ReceivedRequest } from './contract.ts';
import { HostNames } from './host-names.ts';
import type { Received } from './received.ts';
import { outcomeOf } from './send-answer.ts';
import { type BackendService, serveHttp1 } from './serve-http1.ts';

/** Requests that are kept for the test to look at. */
export const maxKept = 10_000;

type Connecting = 'accept' | 'refuse' | 'ignore';

/** All backends of a test gateway. */
export class BackendNetwork implements TestBackends {
  readonly names = new HostNames();
  onRequest: BackendHandler;
  readonly requests: ReceivedRequest[] = [];
  readonly #handlers = new Map<string, BackendHandler>();
  readonly #connecting = new Map<string, Connecting>();
  /** Both ends of each connection, with the requests that are being answered on it. */
  readonly #open = new Map<MemorySocket, { readonly own: MemorySocket; busy: number }>();
  readonly #enter: (work: () => void) => void;
  #port = 40_000;

  constructor(onRequest: BackendHandler | undefined, enter: (work: () => void) => void) {
    this.onRequest = onRequest ?? echo;
    this.#enter = enter;
  }

  on(host: string, handler: BackendHandler): void {
    this.#handlers.set(host.toLowerCase(), handler);
  }

  connecting(host: string, how: Connecting): void {
    this.#connecting.set(host.toLowerCase(), how);
  }

  clear(): void {
    this.requests.length = 0;
  }

  get connections(): number {
    return this.#open.size;
  }

  closeIdle(): void {
    for (const { own, busy } of this.#open.values()) if (busy === 0) own.destroy();
  }

  /** The transport of the data plane. */
  open({ ip, port }: PoolAddress, protocol: 'http/1.1' | 'h2'): Socket {
    const host = this.names.hostOf(ip);
    const how = this.#lookUp(this.#connecting, host, port) ?? 'accept';
    const { client, server } = memoryConnection(
      { address: '127.0.0.1', port: ++this.#port, enter: this.#enter },
      { address: ip, port, enter: this.#enter },
    );
    client.connecting = true;
    const connection = { own: server, busy: 0 };
    this.#open.set(client, connection);
    client.on('close', () => this.#open.delete(client));
    server.on('error', () => {});
    if (how === 'refuse') {
      setImmediate(() => this.#enter(() => client.destroy(socketError('ECONNREFUSED', 'connect', `${ip}:${port}`))));
    } else if (how === 'accept') {
      const service = this.#service(connection, host, port);
      setImmediate(() => this.#enter(() => void this.#accept(client, server, protocol, `${host}:${port}`, service)));
    }
    return asSocket(client);
  }

  async #accept(
    client: MemorySocket,
    server: MemorySocket,
    protocol: 'http/1.1' | 'h2',
    address: string,
    service: BackendService,
  ): Promise<void> {
    if (protocol === 'h2') (await import('./serve-http2.ts')).serveHttp2(server, address, service);
    else serveHttp1(server, address, service);
    client.established();
  }

  #service(connection: { busy: number }, host: string, port: number): BackendService {
    return {
      begun: (request) => {
        connection.busy++;
        if (this.requests.length >= maxKept) this.requests.shift();
        this.requests.push(request);
      },
      answer: async (request: Received) => {
        const handler = this.#lookUp(this.#handlers, host, port) ?? this.onRequest;
        const outcome = await outcomeOf(handler, request);
        connection.busy--;
        return outcome;
      },
    };
  }

  #lookUp<T>(map: ReadonlyMap<string, T>, host: string, port: number): T | undefined {
    const name = host.toLowerCase();
    return map.get(`${name}:${port}`) ?? map.get(name);
  }

  close(): void {
    for (const [client, { own }] of this.#open) {
      client.destroy();
      own.destroy();
    }
    this.#open.clear();
  }
}

/** What it received, as JSON. */
function echo({ method, path, headers, body }: ReceivedRequest) {
  return {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ method, path, headers, body }),
  };
}
