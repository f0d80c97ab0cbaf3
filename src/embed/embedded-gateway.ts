import { isIP } from 'node:net';
import type { EmbeddedNode } from '../boot/embedded/start-embedded-node.ts';
import { pemOf } from '../boot/listeners/listener-certificates.ts';
import type { DataPlane } from '../data/request/data-plane.ts';
import type { GatewayConfigSource } from '../shared/gateway-config/gateway-config.ts';
import { applyConfig } from './apply-config.ts';
import { fetchThrough } from './fetch-request.ts';
import type { FetchClient, Gateway, ListenAddress, ListenOptions, NodeHandler } from './gateway.ts';
import { nodeHandler } from './node-handler.ts';

/** A gateway that has its config. */
export class EmbeddedGateway implements Gateway {
  readonly handler: NodeHandler;
  readonly admin: readonly ListenAddress[];
  readonly #node: EmbeddedNode;
  readonly #plane: DataPlane;
  /** Configs are applied one after the other. */
  #applied: Promise<unknown> = Promise.resolve();
  #closing: Promise<void> | null = null;

  constructor(node: EmbeddedNode, plane: DataPlane) {
    this.#node = node;
    this.#plane = plane;
    this.handler = nodeHandler(plane);
    this.admin = node.adminAddresses;
  }

  async listen({ port, host = '127.0.0.1', tls, http2, proxyProtocol = false }: ListenOptions): Promise<ListenAddress> {
    this.#checkOpen();
    if (isIP(host) === 0) throw new TypeError(`listen: '${host}' is not an IP address`);
    const settings = this.#node.options.settings;
    const ssl = tls !== undefined;
    const address = {
      ...{ ip: host, port, ssl, udp: false, http2: http2 ?? ssl, proxyProtocol },
      ...{ reuseport: false, deferred: false, bind: false, backlog: 511, ipv6only: true, listener: `${host}:${port}` },
    };
    const certificates =
      tls === undefined ? {} : { sslCert: [pemOf('tls.cert', tls.cert)], sslCertKey: [pemOf('tls.key', tls.key)] };
    return { host, port: await this.#plane.open(address, { ...settings, ...certificates }) };
  }

  fetch(request: Request, client: FetchClient = {}): Promise<Response> {
    return fetchThrough(this.#plane, request, client);
  }

  apply(config: GatewayConfigSource): Promise<void> {
    this.#checkOpen();
    const applied = this.#applied.then(() => applyConfig(this.#node.loader, config));
    this.#applied = applied.catch(() => undefined);
    return applied;
  }

  close({ timeout = this.#node.options.settings.drainTimeout }: { readonly timeout?: number } = {}): Promise<void> {
    const { shutdown } = this.#node;
    if (timeout === 0) {
      const cut = shutdown.stop(false, 0);
      this.#closing ??= cut;
      return cut;
    }
    this.#closing ??= this.#close(timeout);
    return this.#closing;
  }

  async #close(timeout: number): Promise<void> {
    const { shutdown } = this.#node;
    const late = setTimeout(() => void shutdown.stop(false, 0), timeout);
    await shutdown.stop(true, 0);
    clearTimeout(late);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #checkOpen(): void {
    if (this.#closing !== null) throw new Error('the gateway is closed');
  }
}
