import { Agent, request } from 'node:http';
import { BenchError } from '../machine/tools.ts';

/** The Admin API over kept connections: bulk loading is bound by the gateway, not by connecting. */
export class AdminClient {
  readonly #base: URL;
  readonly #agent: Agent;

  constructor(adminUrl: string, connections = 8) {
    this.#base = new URL(adminUrl);
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections });
  }

  /** Answers with the status and the milliseconds it took; fails for an error status. */
  async write(method: string, path: string, body?: unknown): Promise<number> {
    const begun = performance.now();
    const text = body === undefined ? '' : JSON.stringify(body);
    const { status, answer } = await new Promise<{ status: number; answer: string }>((resolve, reject) => {
      const outgoing = request(
        {
          host: this.#base.hostname,
          port: this.#base.port,
          agent: this.#agent,
          method,
          path,
          headers: { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) },
        },
        (incoming) => {
          let answer = '';
          incoming.setEncoding('utf8');
          incoming.on('data', (chunk: string) => {
            answer += chunk;
          });
          incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, answer }));
          incoming.on('error', reject);
        },
      );
      outgoing.on('error', reject);
      outgoing.end(text);
    });
    if (status >= 300) throw new BenchError(`${method} ${path} was answered ${status}: ${answer.slice(0, 300)}`);
    return performance.now() - begun;
  }

  /** One service to `url`, and `count` routes `/r/<n>` to it, through the public door. */
  async addRoutes(url: string, count: number, from = 0): Promise<void> {
    await this.write('PUT', '/services/backend', { url });
    let next = from;
    const work = async (): Promise<void> => {
      while (next < from + count) {
        const index = next++;
        await this.write('PUT', `/services/backend/routes/route-${index}`, {
          paths: [`/r/${index}`],
          strip_path: false,
        });
      }
    };
    await Promise.all(Array.from({ length: 8 }, work));
  }

  close(): void {
    this.#agent.destroy();
  }
}
