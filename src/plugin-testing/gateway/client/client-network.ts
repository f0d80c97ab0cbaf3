import { AsyncLocalStorage } from 'node:async_hooks';
import type { ListenersParts } from '../../../data/request/open-listeners.ts';
import { asSocket, type MemorySocket, memoryConnection } from '../../../shared/util/net/memory-socket.ts';
import { ownSocket } from '../../../shared/util/net/socket-owner.ts';
import type { GatewayTime } from '../../clock/gateway-time.ts';
import { testListeners } from '../test-boot.ts';

export interface ConnectOptions {
  readonly clientIp?: string | undefined;
  readonly scheme?: 'http' | 'https' | undefined;
  readonly http2?: boolean | undefined;
  /** TLS server name. */
  readonly serverName?: string | undefined;
}

/** The connections of clients. */
export class ClientNetwork {
  readonly #time: GatewayTime;
  readonly #open = new Set<MemorySocket>();
  #accept: ListenersParts['accept'] | null = null;
  #port = 50_000;

  constructor(time: GatewayTime) {
    this.#time = time;
  }

  /** The transport of the data plane. */
  async listen({ accept }: ListenersParts): Promise<void> {
    this.#accept = accept;
  }

  /** The client's end of a new connection, whose events belong to the code that calls this. */
  connect({ clientIp = '127.0.0.1', scheme = 'http', http2 = false, serverName = '' }: ConnectOptions): MemorySocket {
    const accept = this.#accept;
    if (accept === null) throw new Error('the gateway is closed');
    const address = testListeners[scheme];
    const { client, server } = memoryConnection(
      { address: clientIp, port: ++this.#port, enter: AsyncLocalStorage.snapshot() },
      { address: address.ip, port: address.port, enter: (work) => this.#time.run(work) },
    );
    // Tests look at answers, not at connections that end.
    client.on('error', () => {});
    this.#open.add(client);
    client.on('close', () => this.#open.delete(client));
    if (scheme === 'https') Object.assign(server, tlsView(http2, serverName));
    this.#time.run(() => {
      const owner = accept(asSocket(server), address);
      if (owner !== null) ownSocket(asSocket(server), owner);
    });
    return client;
  }

  close(): void {
    this.#accept = null;
    for (const client of this.#open) client.destroy();
  }
}

/** What the gateway asks a TLS socket. */
function tlsView(http2: boolean, servername: string) {
  return {
    servername,
    alpnProtocol: http2 ? 'h2' : 'http/1.1',
    getProtocol: () => 'TLSv1.3',
    getCipher: () => ({ name: 'TLS_AES_256_GCM_SHA384' }),
    getPeerX509Certificate: () => undefined,
  };
}
