import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type BackendHandler, startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway } from '../../../test/support/gateway.ts';

export type Config = Readonly<Record<string, unknown>>;

export interface ReceivedRequest {
  readonly backend: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** The gateway has cancelled the call. */
  aborted: boolean;
}

/** Sends JSON; `delay` in the query delays it, `hang` sends nothing. */
function sendJson(response: ServerResponse, url: URL, value: unknown, status = 200): void {
  if (url.searchParams.has('hang')) return;
  setTimeout(
    () => {
      response.writeHead(status, { 'Content-Type': 'application/json', 'X-Path': url.pathname });
      response.end(typeof value === 'string' ? value : JSON.stringify(value));
    },
    Number(url.searchParams.get('delay') ?? 0),
  );
}

function backend(
  name: string,
  received: ReceivedRequest[],
  answer: (url: URL, response: ServerResponse) => void,
): Promise<TestBackend> {
  const handler: BackendHandler = (request, response) => {
    const entry: ReceivedRequest = { backend: name, url: request.url ?? '', headers: request.headers, aborted: false };
    received.push(entry);
    response.on('close', () => {
      entry.aborted = !response.writableEnded;
    });
    request.resume();
    answer(new URL(request.url ?? '', 'http://backend'), response);
  };
  return startBackend({ name, handler });
}

const users = (url: URL, response: ServerResponse): void => {
  const id = /^\/users\/(\d+)$/.exec(url.pathname)?.[1];
  if (id === undefined || id === '404') sendJson(response, url, { message: 'secret' }, 404);
  else sendJson(response, url, `{"id":${id},"name":"Ada","account":12345678901234567890,"password":"secret"}`);
};

const orders = (url: URL, response: ServerResponse): void => {
  const user = url.searchParams.get('user');
  sendJson(response, url, { data: [1, 2].map((id) => ({ id, user, product: id + 10 })), next: null });
};

type Send = (status: number, type: string, body: string | Uint8Array, headers?: Record<string, string>) => void;

export const many = (count: number) =>
  Array.from({ length: count }, (_, id) => ({ id, name: `number ${id}`, secret: 'x' }));

const scripts: Readonly<Record<string, (send: Send, response: ServerResponse) => void>> = {
  '/xml': (send) =>
    send(200, 'text/xml', '<?xml version="1.0"?><weather unit="C"><town>Bern</town><day>7</day><day>9</day></weather>'),
  '/bad-xml': (send) => send(200, 'text/xml', '<weather><town></weather>'),
  '/entity': (send) => send(200, 'text/xml', '<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>'),
  '/500': (send) => send(500, 'text/plain', 'secret'),
  '/bad-json': (send) => send(200, 'application/json', '{"secret": tru}'),
  '/large': (send) => send(200, 'application/json', JSON.stringify('x'.repeat(5_000))),
  '/gzip': (send) => send(200, 'application/json', gzipSync('{"small":true}'), { 'Content-Encoding': 'gzip' }),
  '/bomb': (send) =>
    send(200, 'application/json', gzipSync(`"${'x'.repeat(3_000_000)}"`), { 'Content-Encoding': 'gzip' }),
  '/cut': (_, response) => {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': '100' });
    response.write('{"a":');
    response.destroy();
  },
  '/huge': (send) =>
    send(200, 'application/json', `{"key":"k","big":12345678901234567890,"list":${JSON.stringify(many(20_000))}}`),
  '/huge-bad': (send) => send(200, 'application/json', `[${JSON.stringify(many(20_000))}`),
  '/huge-xml': (send) =>
    send(
      200,
      'application/xml',
      `<all>${many(5_000)
        .map(({ id }) => `<one><id>${id}</id></one>`)
        .join('')}</all>`,
    ),
};

const others = (url: URL, response: ServerResponse): void => {
  const script = scripts[url.pathname];
  if (script === undefined) {
    sendJson(response, url, { path: url.pathname, search: url.search });
    return;
  }
  const send: Send = (status, type, body, headers = {}) => {
    response.writeHead(status, { 'Content-Type': type, ...headers });
    response.end(body);
  };
  script(send, response);
};

export interface ClientResponse {
  readonly response: Response;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

/** A gateway with three backends, `users`, `orders` and `others`, as services and behind composite routes. */
export interface CompositeRig {
  readonly port: number;
  /** Requests that the backends received, oldest first. */
  readonly received: readonly ReceivedRequest[];
  /** An address where nothing listens. */
  readonly refused: string;
  /** The backend `others`, by its address. */
  readonly others: string;
  write(method: string, path: string, body: unknown): Promise<Readonly<Record<string, unknown>>>;
  /** A composite route without a service; returns its path. */
  composite(config: Config, path?: string): Promise<string>;
  ask(path: string, init?: RequestInit): Promise<ClientResponse>;
  close(): Promise<void>;
}

export async function startCompositeRig(plugins: readonly string[] = []): Promise<CompositeRig> {
  const received: ReceivedRequest[] = [];
  const backends = {
    users: await backend('users', received, users),
    orders: await backend('orders', received, orders),
    others: await backend('others', received, others),
  };
  const gateway = await startTestGateway({ settings: { plugins: ['aggregate', ...plugins] } });
  const write: CompositeRig['write'] = async (method, path, body) => {
    const answer = await gateway.admin(method, path, body);
    assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  for (const [name, { url }] of Object.entries(backends)) await write('PUT', `/services/${name}`, { url, retries: 0 });
  let serial = 0;
  return {
    port: gateway.proxyPort,
    received,
    refused: await closedAddress(),
    others: backends.others.url,
    write,
    async composite(config, path = '') {
      const name = `c${serial++}`;
      await write('PUT', `/routes/${name}`, { paths: [`~/${name}${path}$`] });
      await write('POST', `/routes/${name}/plugins`, { name: 'aggregate', config });
      return `/${name}`;
    },
    async ask(path, init = {}) {
      const response = await fetch(gateway.proxyUrl + path, init);
      const text = await response.text();
      return { response, text, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
    },
    async close() {
      await gateway.stop();
      await Promise.all(Object.values(backends).map((server) => server.close()));
    },
  };
}

async function closedAddress(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return `http://127.0.0.1:${port}`;
}

export const user = { name: 'user', service: 'users', path: '/users/{id}', omit: ['password'] };
export const ordersOf = {
  name: 'orders',
  service: 'orders',
  path: '/',
  query: { user: '{user.body.id}' },
  target: 'user.orders',
  unwrap: 'data',
  pick: ['id', 'product'],
};
