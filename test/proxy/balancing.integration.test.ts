import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { type BackendOptions, startBackend, type TestBackend } from '../support/backend.ts';
import { freePort } from '../support/free-port.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import type { RawResponse } from '../support/http-message.ts';
import { openClient, type RawClient } from '../support/raw-client.ts';
import { until } from '../support/until.ts';

let gateway: TestGateway;
let backends: readonly TestBackend[];

before(async () => {
  gateway = await startTestGateway({ settings: { workers: 2 } });
  backends = await Promise.all(['a', 'b', 'c'].map((name) => startBackend({ name })));
  await configure();
});

after(async () => {
  await gateway.stop();
  await Promise.all(backends.map((backend) => backend.close()));
});

async function configure(): Promise<void> {
  await write('PUT', '/services/pool', { host: 'pool', protocol: 'http', retries: 3 });
  await write('PUT', '/services/pool/routes/all', { paths: ['~/users/(?<name>[^/]+)', '/'], strip_path: false });
}

async function write(method: string, path: string, body?: unknown): Promise<void> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
}

/** Creates the upstream again, with these targets. */
async function pool(fields: Record<string, unknown>, targets: readonly (readonly [number, number])[]): Promise<void> {
  await gateway.admin('DELETE', '/upstreams/pool');
  await write('PUT', '/upstreams/pool', fields);
  for (const [port, weight] of targets) {
    await write('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${port}`, weight });
  }
}

function each(weights: readonly number[] = [100, 100, 100]): (readonly [number, number])[] {
  return weights.map((weight, index) => [backends[index]!.port, weight] as const);
}

interface Ask {
  readonly path?: string;
  /** Header lines. */
  readonly lines?: readonly string[];
  readonly from?: string;
}

function send(client: RawClient, { path = '/', lines = [] }: Ask): Promise<RawResponse> {
  client.write(`GET ${path} HTTP/1.1\r\nHost: a.test\r\n${lines.map((line) => `${line}\r\n`).join('')}\r\n`);
  return client.readResponse();
}

/** On a new connection, so that any worker may receive it. */
async function ask(parts: Ask = {}): Promise<RawResponse> {
  using client = await openClient(gateway.proxyPort, parts.from === undefined ? {} : { localAddress: parts.from });
  return await send(client, parts);
}

function backendOf(response: RawResponse): string {
  assert.equal(response.status, 200, response.body);
  return (JSON.parse(response.body) as { readonly backend: string }).backend;
}

async function counted(times: number, parts: (turn: number) => Ask = () => ({})): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (let turn = 0; turn < times; turn++) {
    const name = backendOf(await ask(parts(turn)));
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Checks that equal requests reach one backend on every worker, and that different ones reach all backends. */
async function sticks(parts: (key: number) => Ask): Promise<void> {
  const homes = new Set<string>();
  for (let key = 0; key < 12; key++) {
    const home = backendOf(await ask(parts(key)));
    for (let turn = 0; turn < 3; turn++) assert.equal(backendOf(await ask(parts(key))), home);
    homes.add(home);
  }
  assert.ok(homes.size > 1, 'all went to one backend');
}

describe('round-robin', () => {
  it('distributes exactly by weight over both workers', async () => {
    await pool({}, each([100, 200, 100]));
    assert.deepEqual(await counted(40), { a: 10, b: 20, c: 10 });
  });

  it('sends nothing to a target of weight 0', async () => {
    await pool({}, each([100, 0, 100]));
    assert.deepEqual(await counted(20), { a: 10, c: 10 });
  });

  it('tries another target when one is down', async () => {
    await pool({}, [...each(), [await freePort(), 100]]);
    const counts = await counted(32);
    assert.equal(
      Object.values(counts).reduce((sum, count) => sum + count, 0),
      32,
    );
  });

  it('answers 503 when no target is left', async () => {
    await pool({}, []);
    assert.equal((await ask()).status, 503);
    await pool({}, each([0, 0, 0]));
    const response = await ask();
    assert.equal(response.status, 503);
    assert.match(response.body, /failure to get a peer from the ring-balancer/);
  });
});

describe('slow start', () => {
  it('sends a small share to a new target at first, the same in both workers', async () => {
    const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-slow-start-'));
    const first = gateway;
    const start = () => startTestGateway({ settings: { workers: 2, prefix } });
    let own = await start();
    try {
      gateway = own;
      await configure();
      await pool({ slow_start: 3600 }, each([100, 100, 0]));
      await own.stop();
      own = await start();
      gateway = own;
      assert.deepEqual(await counted(10), { a: 5, b: 5 });
      const target = `127.0.0.1:${backends[2]!.port}`;
      await write('PATCH', `/upstreams/pool/targets/${target}`, { weight: 100 });
      assert.deepEqual(await counted(41), { a: 20, b: 20, c: 1 }, 'one part compared with twenty each');
      await write('DELETE', `/upstreams/pool/targets/${target}`);
      assert.deepEqual(await counted(10), { a: 5, b: 5 });
      await write('POST', '/upstreams/pool/targets', { target });
      assert.deepEqual(await counted(41), { a: 20, b: 20, c: 1 });
      await write('PATCH', '/upstreams/pool', { slow_start: 0 });
      assert.deepEqual(await counted(9), { a: 3, b: 3, c: 3 });
    } finally {
      gateway = first;
      await own.stop();
      await rm(prefix, { recursive: true, force: true });
    }
  });
});

describe('least-connections', () => {
  /** A backend that holds its answers until they are released. */
  async function startHolding(name: string): Promise<TestBackend & { readonly open: ServerResponse[] }> {
    const open: ServerResponse[] = [];
    const handler: BackendOptions['handler'] = (_request, response) => void open.push(response);
    return Object.assign(await startBackend({ name, handler }), { open });
  }

  it('balances the requests in flight of both workers', async () => {
    const holding = await Promise.all(['a', 'b', 'c'].map(startHolding));
    const clients: RawClient[] = [];
    try {
      const weights = [100, 100, 200];
      await pool(
        { algorithm: 'least-connections' },
        holding.map(({ port }, index) => [port, weights[index]!] as const),
      );
      for (let turn = 0; turn < 24; turn++) {
        const client = await openClient(gateway.proxyPort);
        clients.push(client);
        client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
      }
      const open = (): number[] => holding.map((backend) => backend.open.length);
      await until(() => open().reduce((sum, count) => sum + count, 0) === 24);
      assert.deepEqual(open(), [6, 6, 12]);
      // Completed requests free that backend.
      for (const response of holding[0]!.open.splice(0)) response.end('done');
      let expected = 18;
      await until(async () => {
        const client = await openClient(gateway.proxyPort);
        clients.push(client);
        client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
        expected++;
        // A request that has not arrived yet must not make the next one choose another backend.
        await until(() => open().reduce((sum, count) => sum + count, 0) === expected);
        return holding[0]!.open.length >= 5;
      });
      assert.ok(holding[1]!.open.length <= 7, `${open()}`);
    } finally {
      for (const client of clients) client.close();
      await Promise.all(holding.map((backend) => backend.close()));
    }
  });
});

describe('latency', () => {
  let slow: TestBackend;
  before(async () => {
    const handler = (request: IncomingMessage, response: ServerResponse): void => {
      request.resume();
      setTimeout(() => response.end('{"backend":"slow"}'), 80);
    };
    slow = await startBackend({ name: 'slow', handler });
  });
  after(() => slow.close());

  it('prefers the backend that answers faster', async () => {
    await pool({ algorithm: 'latency' }, [...each([100, 100]), [slow.port, 100]]);
    await counted(12);
    const counts = await counted(60);
    assert.ok((counts['slow'] ?? 0) <= 1, JSON.stringify(counts));
    // The order of the two is random; each pair of candidates has its own winner.
    assert.ok((counts['a'] ?? 0) + (counts['b'] ?? 0) >= 59, JSON.stringify(counts));
  });

  it('does not count the time in which a client sends its body', async () => {
    await pool({ algorithm: 'latency' }, [...each([100]), [slow.port, 100]]);
    await counted(6);
    using client = await openClient(gateway.proxyPort);
    client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\na');
    const begun = performance.now();
    await until(() => performance.now() - begun > 300);
    client.write('b');
    assert.equal(backendOf(await client.readResponse('POST')), 'a');
    assert.ok(((await counted(10))['a'] ?? 0) >= 9);
  });
});

describe('consistent-hashing', () => {
  it('hashes the address of the client', async () => {
    await pool({ hash_on: 'ip' }, each());
    await sticks((key) => ({ from: `127.0.0.${key + 2}` }));
  });

  it('hashes a header, with all its values', async () => {
    await pool({ hash_on: 'header', hash_on_header: 'X-User-Id' }, each());
    await sticks((key) => ({ lines: [`x-user-id: user ${key}`] }));
    await sticks((key) => ({ lines: ['X-User-Id: same', `X-User-Id: ${key}`] }));
  });

  it('sends requests without the hashed header to one target', async () => {
    assert.equal(Object.keys(await counted(10)).length, 1);
  });

  it('hashes the decoded path', async () => {
    await pool({ hash_on: 'path' }, each());
    await sticks((key) => ({ path: `/items/${key}?q=${Math.random()}` }));
    for (let key = 0; key < 10; key++) {
      const plain = backendOf(await ask({ path: `/a:${key}/caf%C3%A9` }));
      assert.equal(backendOf(await ask({ path: `/x/../a%3A${key}//caf%c3%a9` })), plain);
    }
  });

  it('hashes an argument of the query, with its values in order', async () => {
    await pool({ hash_on: 'query_arg', hash_on_query_arg: 'user' }, each());
    await sticks((key) => ({ path: `/?other=${Math.random()}&user=%C3%A9${key}` }));
    for (let key = 0; key < 10; key++) {
      const home = backendOf(await ask({ path: `/?user=b${key}&user=a&user` }));
      assert.equal(backendOf(await ask({ path: `/?user&user=a&user=b${key}` })), home);
      assert.equal(backendOf(await ask({ path: `/?user=a,b${key},true` })), home);
    }
  });

  it("hashes a capture group of the route's expression", async () => {
    await pool({ hash_on: 'uri_capture', hash_on_uri_capture: 'name' }, each());
    await sticks((key) => ({ path: `/users/u${key}/${Math.random()}` }));
    await pool({ hash_on: 'uri_capture', hash_on_uri_capture: '1' }, each());
    await sticks((key) => ({ path: `/users/u${key}/${Math.random()}` }));
  });

  it('hashes the consumer', async () => {
    await pool({ hash_on: 'consumer', hash_fallback: 'ip' }, each());
    await write('PUT', '/services/pool/plugins/00000000-0000-4000-8000-000000000001', { name: 'key-auth' });
    try {
      for (let key = 0; key < 12; key++) {
        await write('PUT', `/consumers/user-${key}`, {});
        for (const suffix of ['x', 'y']) {
          await write('POST', `/consumers/user-${key}/key-auth`, { key: `key-${key}-${suffix}` });
        }
      }
      await sticks((key) => ({ lines: [`apikey: key-${key}-${'xy'[Math.floor(Math.random() * 2)]}`] }));
    } finally {
      await write('DELETE', '/plugins/00000000-0000-4000-8000-000000000001');
    }
  });

  it('hashes a header that a plugin has set', async () => {
    await pool({ hash_on: 'header', hash_on_header: 'X-Consumer-Username' }, each());
    await write('PUT', '/services/pool/plugins/00000000-0000-4000-8000-000000000001', { name: 'key-auth' });
    try {
      await sticks((key) => ({ lines: [`apikey: key-${key}-x`, `X-Consumer-Username: ${Math.random()}`] }));
    } finally {
      await write('DELETE', '/plugins/00000000-0000-4000-8000-000000000001');
    }
  });

  it('hashes the fallback when the first input is missing', async () => {
    await pool(
      { hash_on: 'header', hash_on_header: 'x-user', hash_fallback: 'query_arg', hash_fallback_query_arg: 'user' },
      each(),
    );
    await sticks((key) => ({ path: `/?user=${key}` }));
    for (let key = 0; key < 5; key++) {
      const home = backendOf(await ask({ path: `/?user=${key}` }));
      assert.equal(backendOf(await ask({ lines: [`X-User: ${key}`], path: '/?user=x' })), home);
    }
  });

  it('hashes a cookie, and sets one for clients without it', async () => {
    await pool({ hash_on: 'cookie', hash_on_cookie: 'sticky', hash_on_cookie_path: '/shop' }, each());
    const homes = new Set<string>();
    for (let client = 0; client < 12; client++) {
      const first = await ask({ lines: ['Cookie: other=1; sticky-not=2'] });
      const cookies = first.all('set-cookie');
      assert.equal(cookies.length, 1);
      const form = /^sticky=([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}); (.*)$/;
      const [, value = '', rest] = form.exec(cookies[0]!) ?? [];
      assert.equal(rest, 'Path=/shop; Same-Site=Lax; HttpOnly');
      homes.add(backendOf(first));
      for (let turn = 0; turn < 3; turn++) {
        const next = await ask({ lines: ['Cookie: a=b', `Cookie: x=y; sticky=${value}`] });
        assert.equal(backendOf(next), backendOf(first));
        assert.equal(next.get('set-cookie'), undefined);
      }
    }
    assert.ok(homes.size > 1);
  });

  it('sets one cookie for a request with several attempts', async () => {
    const down = await freePort();
    await pool({ hash_on: 'cookie', hash_on_cookie: 'sticky' }, [...each([1, 1, 1]), [down, 60_000]]);
    const homes = new Set<string>();
    for (let client = 0; client < 10; client++) {
      const response = await ask();
      homes.add(backendOf(response));
      assert.equal(response.all('set-cookie').length, 1);
    }
    assert.ok(homes.size >= 1);
  });

  it('retries at another target, the same one for the same client', async () => {
    await pool({ hash_on: 'header', hash_on_header: 'x-user' }, [...each(), [await freePort(), 300]]);
    await sticks((key) => ({ lines: [`X-User: ${key}`] }));
  });

  it('moves only the clients of a removed target', async () => {
    await pool({ hash_on: 'header', hash_on_header: 'x-user' }, each());
    const home = new Map<number, string>();
    for (let key = 0; key < 40; key++) home.set(key, backendOf(await ask({ lines: [`X-User: ${key}`] })));
    await write('DELETE', `/upstreams/pool/targets/127.0.0.1:${backends[2]!.port}`);
    let moved = 0;
    for (const [key, before] of home) {
      const now = backendOf(await ask({ lines: [`X-User: ${key}`] }));
      assert.notEqual(now, 'c');
      if (before !== 'c' && now !== before) moved++;
    }
    assert.ok(moved <= 2, `${moved} of others`);
  });
});
