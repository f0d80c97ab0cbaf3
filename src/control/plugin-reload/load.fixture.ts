import { Agent } from 'node:http';
import { http1 } from '../../../test/support/load-clients.ts';

/** Clients that send requests as fast as they are answered, until they are stopped. */
export class Load {
  requests = 0;
  readonly failures: string[] = [];
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 24 });
  readonly #ended: Promise<unknown>;
  #running = true;

  constructor(port: number, clients = 24) {
    this.#ended = Promise.all(Array.from({ length: clients }, () => this.#run(port)));
  }

  async stop(): Promise<void> {
    this.#running = false;
    await this.#ended;
    this.#agent.destroy();
  }

  async #run(port: number): Promise<void> {
    while (this.#running) {
      await http1(port, this.#agent, '/').catch((error: Error) => void this.failures.push(error.message));
      this.requests++;
    }
  }
}
