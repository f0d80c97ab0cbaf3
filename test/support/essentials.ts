import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { request } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { type EchoedRequest, startBackend, type TestBackend } from './backend.ts';
import type { AdminAnswer } from './gateway.ts';

/** A gateway whose config can be replaced by a document, wherever it is kept. */
export interface EssentialsNode {
  readonly proxyUrl: string;
  /** Replaces the whole config. Resolves when every request is routed by it; rejects when the document is refused. */
  load(document: object): Promise<void>;
  admin(method: string, path: string, body?: unknown): Promise<AdminAnswer>;
  /** Resolves when every request sees the last answered write of the Admin API. */
  settled(): Promise<void>;
  stop(): Promise<void>;
}

interface Seen {
  readonly status: number;
  readonly headers: Headers;
  /** What the backend received; null when another answer came. */
  readonly echo: EchoedRequest | null;
}

/** Essentials of what carries the traffic: where the config comes from makes no difference. `start` starts a gateway with two workers. */
export function testEssentials(start: () => Promise<EssentialsNode>): void {
  let backend: TestBackend;
  let second: TestBackend;
  let node: EssentialsNode;

  before(async () => {
    backend = await startBackend({ name: 'one' });
    second = await startBackend({ name: 'two' });
    const service = (name: string, routes: readonly object[], more: object = {}): object => ({
      name,
      url: backend.url,
      routes,
      ...more,
    });
    /** The backend sees which route was chosen. */
    const named = (route: { readonly name: string; readonly [field: string]: unknown }): object => ({
      ...route,
      plugins: [{ name: 'request-transformer', config: { add: { headers: [`x-route:${route.name}`] } } }],
    });
    node = await start();
    await node.load({
      _format_version: '3.0',
      services: [
        service('paths', [
          named({ name: 'prefix', paths: ['/a'] }),
          named({ name: 'longer', paths: ['/a/b'], strip_path: false }),
          named({ name: 'regex', paths: ['~/r/(?<id>\\d+)$'], strip_path: false }),
          named({ name: 'host', hosts: ['*.example.com'], paths: ['/only-host'] }),
          named({ name: 'method', methods: ['DELETE'], paths: ['/a'] }),
          named({ name: 'header', headers: { 'x-version': ['2'] }, paths: ['/a'] }),
        ]),
        service('auth', [
          { name: 'key', paths: ['/key'], plugins: [{ name: 'key-auth' }] },
          { name: 'basic', paths: ['/basic'], plugins: [{ name: 'basic-auth' }] },
          { name: 'jwt', paths: ['/jwt'], plugins: [{ name: 'jwt' }] },
          {
            name: 'acl',
            paths: ['/acl'],
            plugins: [{ name: 'key-auth' }, { name: 'acl', config: { allow: ['staff'] } }],
          },
        ]),
        service('limits', [
          {
            name: 'limited',
            paths: ['/limited'],
            plugins: [{ name: 'rate-limiting', config: { hour: 3, policy: 'local' } }],
          },
        ]),
        service('balanced', [{ name: 'balanced', paths: ['/balanced'] }], {
          url: undefined,
          host: 'pool',
          protocol: 'http',
        }),
      ],
      upstreams: [
        {
          name: 'pool',
          targets: [{ target: `127.0.0.1:${backend.port}` }, { target: `127.0.0.1:${second.port}`, weight: 100 }],
        },
      ],
      consumers: [
        {
          username: 'ann',
          keyauth_credentials: [{ key: 'key-of-ann' }],
          basicauth_credentials: [{ username: 'ann', password: 'pass' }],
          jwt_secrets: [{ key: 'issuer', secret: 'jwt-secret' }],
          acls: [{ group: 'staff' }],
        },
        { username: 'bob', keyauth_credentials: [{ key: 'key-of-bob' }] },
      ],
      plugins: [{ name: 'correlation-id', config: { header_name: 'X-Trace', echo_downstream: true } }],
    });
  });
  after(async () => {
    await node?.stop();
    await backend?.close();
    await second?.close();
  });

  async function send(path: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Seen> {
    const response = await fetch(node.proxyUrl + path, { method, headers });
    const text = await response.text();
    return { status: response.status, headers: response.headers, echo: response.ok ? JSON.parse(text) : null };
  }

  /** `fetch` would replace a `Host` header. */
  async function statusOf(path: string, host: string): Promise<number> {
    const { promise, resolve, reject } = Promise.withResolvers<number>();
    const sent = request(node.proxyUrl + path, { headers: { host }, agent: false }, (response) => {
      response.resume().once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject).end();
    return promise;
  }

  describe('routing', () => {
    for (const [path, headers, method, forwarded, service] of [
      ['/a/x', {}, 'GET', '/x', 'prefix'],
      ['/a/b/x', {}, 'GET', '/a/b/x', 'longer'],
      ['/r/42', {}, 'GET', '/r/42', 'regex'],
      ['/a/x', {}, 'DELETE', '/x', 'method'],
      ['/a/x', { 'x-version': '2' }, 'GET', '/x', 'header'],
    ] as const) {
      test(`${method} ${path} ${JSON.stringify(headers)}`, async () => {
        const { status, echo } = await send(path, headers, method);
        assert.equal(status, 200);
        assert.deepEqual([echo?.url, echo?.headers['x-route']], [forwarded, service]);
      });
    }

    test('a host', async () => {
      assert.equal(await statusOf('/only-host', 'api.example.com'), 200);
      assert.equal(await statusOf('/only-host', 'example.org'), 404);
    });

    test('a path without a route is answered with 404', async () => {
      assert.equal((await send('/r/x')).status, 404);
    });

    test('targets of an upstream share the requests', async () => {
      const names = new Set<string>();
      for (let count = 0; count < 20; count++) names.add((await send('/balanced')).echo?.backend ?? '');
      assert.deepEqual([...names].sort(), ['one', 'two']);
    });
  });

  describe('authentication', () => {
    test('a key', async () => {
      assert.equal((await send('/key')).status, 401);
      assert.equal((await send('/key', { apikey: 'wrong' })).status, 401);
      const { status, echo } = await send('/key', { apikey: 'key-of-ann' });
      assert.deepEqual([status, echo?.headers['x-consumer-username']], [200, 'ann']);
    });

    test('a password', async () => {
      const authorization = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
      assert.equal((await send('/basic', authorization('ann:wrong'))).status, 401);
      assert.equal((await send('/basic', authorization('ann:pass'))).status, 200);
    });

    test('a token', async () => {
      const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
      const content = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ iss: 'issuer' })}`;
      const token = (secret: string): string =>
        `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
      assert.equal((await send('/jwt', { authorization: `Bearer ${token('wrong')}` })).status, 401);
      assert.equal((await send('/jwt', { authorization: `Bearer ${token('jwt-secret')}` })).status, 200);
    });

    test('a group', async () => {
      assert.equal((await send('/acl', { apikey: 'key-of-bob' })).status, 403);
      assert.equal((await send('/acl', { apikey: 'key-of-ann' })).status, 200);
    });
  });

  test('a limit counts over all workers', async () => {
    const statuses = await Promise.all(Array.from({ length: 8 }, async () => (await send('/limited')).status));
    assert.equal(statuses.filter((status) => status === 200).length, 3);
    assert.equal(statuses.filter((status) => status === 429).length, 5);
  });

  test('a global plugin runs for every route', async () => {
    const { headers, echo } = await send('/a/x');
    assert.ok(headers.get('x-trace'));
    assert.equal(echo?.headers['x-trace'], headers.get('x-trace'));
  });

  test('credentials that a new document leaves out are refused at once, also those that workers have cached', async () => {
    const document = (keys: readonly string[]): object => ({
      _format_version: '3.0',
      services: [
        { name: 's', url: backend.url, routes: [{ name: 'r', paths: ['/'], plugins: [{ name: 'key-auth' }] }] },
      ],
      consumers: [{ username: 'ann', keyauth_credentials: keys.map((key) => ({ key })) }],
    });
    await node.load(document(['old', 'kept']));
    for (let count = 0; count < 8; count++) assert.equal((await send('/', { apikey: 'old' })).status, 200);
    await node.load(document(['new', 'kept']));
    for (let count = 0; count < 8; count++) {
      assert.equal((await send('/', { apikey: 'old' })).status, 401);
      assert.equal((await send('/', { apikey: 'new' })).status, 200);
      assert.equal((await send('/', { apikey: 'kept' })).status, 200);
    }
  });

  test('no request fails while documents replace each other', async () => {
    const document = (round: number): object => ({
      _format_version: '3.0',
      services: [{ name: `s${round}`, url: backend.url, routes: [{ name: `r${round}`, paths: ['/stable'] }] }],
    });
    await node.load(document(0));
    let done = false;
    const statuses = new Map<number, number>();
    const client = async (): Promise<void> => {
      while (!done) {
        const { status } = await send('/stable');
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
      }
    };
    const clients = Array.from({ length: 4 }, client);
    for (let round = 1; round <= 20; round++) await node.load(document(round));
    done = true;
    await Promise.all(clients);
    assert.deepEqual([...statuses.keys()], [200]);
  });

  test('a session is kept on the node, survives a load, and can be deleted', async () => {
    const document = {
      _format_version: '3.0',
      services: [
        {
          name: 's',
          url: backend.url,
          routes: [
            {
              name: 'r',
              paths: ['/'],
              plugins: [
                { name: 'key-auth', config: { anonymous: 'guest' } },
                { name: 'session', config: { storage: 'kong', cookie_secure: false, secret: 'a'.repeat(44) } },
                { name: 'acl', config: { allow: ['staff'] } },
              ],
            },
          ],
        },
      ],
      consumers: [
        { username: 'guest' },
        { username: 'ann', keyauth_credentials: [{ key: 'key-of-ann' }], acls: [{ group: 'staff' }] },
      ],
    };
    await node.load(document);
    assert.equal((await send('/')).status, 401);
    const login = await send('/', { apikey: 'key-of-ann' });
    const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    assert.deepEqual([login.status, cookie === ''], [200, false]);
    assert.equal((await send('/', { cookie })).status, 200);
    await node.load(document);
    assert.equal((await send('/', { cookie })).status, 200);
    const { body } = await node.admin('GET', '/sessions');
    const [session] = body['data'] as readonly { readonly id: string }[];
    assert.equal((await node.admin('DELETE', `/sessions/${session?.id}`)).status, 204);
    await node.settled();
    assert.equal((await send('/', { cookie })).status, 401);
  });
}
