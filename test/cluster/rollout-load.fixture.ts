import assert from 'node:assert/strict';
import { Agent } from 'node:http';
import { type ClusterNode, put } from '../support/cluster.ts';
import { checkInterval, type TestHaproxy } from '../support/haproxy.ts';
import { Clients, http1, http2Client } from '../support/load-clients.ts';
import { eventStreamClient, type LongLivedClient, webSocketClient } from '../support/long-lived-clients.ts';

export const rolloutSettings = {
  // Longer than HAProxy needs to notice: two failed checks, and one that has just begun.
  SLUICEGATE_SHUTDOWN_DELAY: `${checkInterval * 4}ms`,
  SLUICEGATE_DRAIN_TIMEOUT: '600ms',
};

/** Milliseconds in which a write reaches every node: a second (docs/deploy/several-nodes.md), and more on a busy machine. */
const spread = 3_000;

/** Every kind of client that a rollout must not disturb, at the service `echo`. */
export class RolloutLoad implements Disposable {
  readonly clients = new Clients();
  readonly longLived: readonly LongLivedClient[];
  readonly #haproxy: TestHaproxy;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 6 });
  readonly #confirmed: { readonly path: string; readonly at: number }[] = [];
  #serial = 0;

  constructor(haproxy: TestHaproxy) {
    const { clients } = this;
    const { host, port, tlsPort } = haproxy;
    this.#haproxy = haproxy;
    const session = http2Client(tlsPort, { origin: `https://${host}:${tlsPort}` });
    const socket = webSocketClient(`ws://${host}:${port}/echo/socket`);
    const events = eventStreamClient(`http://${host}:${port}/echo/events`);
    this.longLived = [socket, events];
    clients.add('keep-alive', 3, () => http1(port, this.#agent, '/echo', host));
    clients.add('new connections', 1, () => http1(port, false, '/echo', host));
    clients.add('HTTP/2', 2, () => session.step());
    clients.add('WebSocket', 1, () => socket.step());
    clients.add('events', 1, () => events.step());
    this.#close = () => {
      for (const client of [session, socket, events]) client.close();
    };
  }

  readonly #close: () => void;

  /** Adds routes by the Admin API of `writer()`, and sends requests to those that every node must have by now. */
  editConfig(writer: () => ClusterNode): void {
    this.clients.add('edits', 1, async () => {
      const name = `added-${++this.#serial}`;
      assert.equal(await put(writer(), `/services/echo/routes/${name}`, { paths: [`/${name}`] }), 200);
      this.#confirmed.push({ path: `/${name}`, at: performance.now() });
    });
    const { host, port } = this.#haproxy;
    this.clients.add('added routes', 3, async () => {
      const path = this.#known();
      if (path !== null) await http1(port, this.#agent, path, host);
    });
  }

  /** One of the latest routes that every node must have: those are the ones that it could lack. */
  #known(): string | null {
    const before = performance.now() - spread;
    const count = this.#confirmed.findLastIndex(({ at }) => at < before) + 1;
    return this.#confirmed[count - 1 - Math.floor(Math.random() * Math.min(count, 20))]?.path ?? null;
  }

  requests(name: string): number {
    return this.clients.loads.find((load) => load.name === name)?.requests ?? 0;
  }

  [Symbol.dispose](): void {
    this.clients[Symbol.dispose]();
    this.#agent.destroy();
    this.#close();
  }
}

export async function addEcho(node: ClusterNode, url: string): Promise<void> {
  assert.equal(await put(node, '/services/echo', { url }), 200);
  assert.equal(await put(node, '/services/echo/routes/echo', { paths: ['/echo'] }), 200);
}
