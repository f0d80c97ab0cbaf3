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

/** The tools of a row: a gateway in front of a JSON backend, with a service and a route `/<plugin>`. */
export interface Setting {
  readonly gateway: TestGateway;
  readonly backend: TestBackend;
  /** The name of the plugin, of its service and of its route. */
  readonly name: string;
  /** A folder for this test only. */
  readonly folder: string;
  /** Disposed of after the row. */
  readonly resources: AsyncDisposableStack;
  /** An Admin API write that must succeed. */
  write(method: string, path: string, body?: unknown): Promise<Fields>;
  /** A request through the gateway; the path starts below the route. */
  ask(path?: string, options?: AskOptions): Promise<Answer>;
  /** A request on the TLS listener; the path starts at the root. */
  askTls(path: string, options?: TlsOptions): Promise<Answer>;
}

/** The smallest configuration of a plugin, and a normal request that must work on the first try. */
export interface FirstTry {
  /** Why the row is skipped: a service is not installed. */
  readonly skip?: string | false;
  /** The plugin is global, not attached to the service. */
  readonly global?: true;
  /** Fields of the service or route that the plugin requires. */
  readonly service?: (setting: Setting) => Fields | Promise<Fields>;
  readonly route?: Fields;
  /** Required fields: the Admin API refuses the configuration if one is missing. Default: none. */
  readonly config?: Fields | ((setting: Setting) => Fields | Promise<Fields>);
  /** More fields, for a server that a test cannot start at its default address. */
  readonly elsewhere?: () => Fields;
  /** Starts the servers that the plugin calls. Runs before the plugin is configured. */
  readonly before?: (setting: Setting) => void | Promise<void>;
  /** Sends the request and checks the outcome. Default: expects the answer of the backend. */
  readonly works?: (setting: Setting) => Promise<void>;
}

/** What the backend received, as its answer (which must be 200) says. */
export function echoed(answer: Answer): EchoedRequest {
  assert.equal(answer.status, 200, answer.body);
  return JSON.parse(answer.body) as EchoedRequest;
}

export async function passes({ ask }: Setting): Promise<void> {
  assert.equal(echoed(await ask('/42?q=1')).url, '/42?q=1');
}

/** Checks that a request without these credentials is refused, and that they name `ada` to the backend. */
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
