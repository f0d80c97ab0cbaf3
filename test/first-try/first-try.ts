import assert from 'node:assert/strict';
import { request as httpsRequest } from 'node:https';
import type { EchoedRequest, TestBackend } from '../support/backend.ts';
import type { TestGateway } from '../support/gateway.ts';

export type Fields = Readonly<Record<string, unknown>>;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface AskOptions {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array<ArrayBuffer>;
}

export interface TlsOptions extends AskOptions {
  /** The client's certificate, PEM. */
  readonly cert?: string;
  readonly key?: string;
}

/** What a row has at hand: a gateway in front of an ordinary JSON backend, with a service and a route `/<plugin>` for it. */
export interface Setting {
  readonly gateway: TestGateway;
  readonly backend: TestBackend;
  /** The plugin's name, which the service and the route have, too. */
  readonly name: string;
  /** A folder of the test's own. */
  readonly folder: string;
  /** Closed after the row. */
  readonly resources: AsyncDisposableStack;
  /** An Admin API write that must succeed. */
  write(method: string, path: string, body?: unknown): Promise<Fields>;
  /** A request through the gateway; the path starts below the route. */
  ask(path?: string, options?: AskOptions): Promise<Answer>;
  /** The same on the TLS listener, with a path from the root. */
  askTls(path: string, options?: TlsOptions): Promise<Answer>;
}

/** The smallest configuration of a plugin, and a normal request that must work at the first try. */
export interface FirstTry {
  /** A reason to skip: a service is not installed. */
  readonly skip?: string | false;
  /** Attached to everything instead of the service. */
  readonly global?: true;
  /** Fields of the service or route that the plugin makes no sense without. */
  readonly service?: (setting: Setting) => Fields | Promise<Fields>;
  readonly route?: Fields;
  /** Each field is needed: without any of them the Admin API refuses the configuration. Default: none. */
  readonly config?: Fields | ((setting: Setting) => Fields | Promise<Fields>);
  /** More fields, for a server that a test cannot start in its usual place. */
  readonly elsewhere?: () => Fields;
  /** Receives what the plugin sends, answers what it asks. Runs before the plugin is configured. */
  readonly before?: (setting: Setting) => void | Promise<void>;
  /** The request, and what is expected of it. Default: the answer of the backend. */
  readonly works?: (setting: Setting) => Promise<void>;
}

/** What the backend received, out of its answer, which must be a 200. */
export function echoed(answer: Answer): EchoedRequest {
  assert.equal(answer.status, 200, answer.body);
  return JSON.parse(answer.body) as EchoedRequest;
}

export async function passes({ ask }: Setting): Promise<void> {
  assert.equal(echoed(await ask('/42?q=1')).url, '/42?q=1');
}

/** Credentials that are refused without, and name the consumer `ada` to the backend. */
export async function knowsAda({ ask }: Setting, headers: Readonly<Record<string, string>>): Promise<void> {
  assert.equal((await ask()).status, 401);
  assert.equal(echoed(await ask('/', { headers })).headers['x-consumer-username'], 'ada');
}

export function basic(user: string, password: string, scheme = 'Basic'): string {
  return `${scheme} ${Buffer.from(`${user}:${password}`).toString('base64')}`;
}

export function askTls(port: number, path: string, options: TlsOptions = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, ...identity } = options;
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port, path, method, headers, agent: false, rejectUnauthorized: false, ...identity },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (piece: string) => {
          text += piece;
        });
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers as Record<string, string>,
            body: text,
          }),
        );
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
