import assert from 'node:assert/strict';
import { request } from 'node:http';
import type { Settings } from '../../src/shared/settings/settings.ts';
import { type AdminAnswer, startTestGateway, type TestGateway } from './gateway.ts';

export interface DbLessOptions {
  readonly settings?: Partial<Settings>;
  /** Settings in the form of environment variables. */
  readonly env?: Readonly<Record<string, string>>;
  /** Loaded before the node is returned. */
  readonly document?: object;
}

/** A gateway without a database. */
export interface DbLessGateway extends TestGateway {
  /** `POST /config` with a JSON document, or with another body and its type. */
  load(document: object | string | Uint8Array | FormData, options?: LoadOptions): Promise<AdminAnswer>;
  /** `configuration_hash` of `/status`. */
  hash(): Promise<string>;
  /** The status of a request to the proxy. */
  statusOf(path: string, headers?: Readonly<Record<string, string>>): Promise<number>;
  /** Status and message of `/status/ready`. */
  ready(): Promise<string>;
}

export interface LoadOptions {
  /** Default: `application/json`. */
  readonly type?: string;
  /** Default: `?flatten_errors=1`. */
  readonly query?: string;
}

export async function startDbLess({ settings, env, document }: DbLessOptions = {}): Promise<DbLessGateway> {
  const node = await startTestGateway({
    settings: { ...settings, database: 'off' },
    ...(env === undefined ? {} : { env }),
  });
  const gateway: DbLessGateway = {
    ...node,
    load: (body, options) => load(node.adminUrl, body, options),
    hash: async () => String((await node.admin('GET', '/status')).body['configuration_hash']),
    statusOf: (path, headers) => statusOf(node.proxyPort, path, headers),
    async ready() {
      const response = await fetch(`${node.statusUrl}/status/ready`);
      return `${response.status} ${((await response.json()) as { message: string }).message}`;
    },
  };
  if (document !== undefined) {
    const { status, body } = await gateway.load(document);
    if (status !== 201) await node.stop();
    assert.equal(status, 201, JSON.stringify(body));
  }
  return gateway;
}

async function load(
  base: string,
  body: Parameters<DbLessGateway['load']>[0],
  { type = 'application/json', query = '?flatten_errors=1' }: LoadOptions = {},
): Promise<AdminAnswer> {
  const raw = typeof body === 'string' || body instanceof Uint8Array || body instanceof FormData;
  const response = await fetch(`${base}/config${query}`, {
    method: 'POST',
    headers: body instanceof FormData ? {} : { 'Content-Type': type },
    body: raw ? (body as string) : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? {} : JSON.parse(text) };
}

/** `fetch` would replace a `Host` header. */
async function statusOf(port: number, path: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const sent = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
    response.resume().once('end', () => resolve(response.statusCode ?? 0));
  });
  sent.once('error', reject).end();
  return promise;
}
