import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, test } from 'node:test';
import { type Item, startItems } from '../examples/backends/items.ts';
import type { ExampleBackend } from '../examples/backends/json-backend.ts';
import { startOrders } from '../examples/backends/orders.ts';
import { startUsers } from '../examples/backends/users.ts';
import { configure } from '../examples/configure.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';

const root = join(import.meta.dirname, '..');

interface RunningExample extends AsyncDisposable {
  readonly output: () => string;
  readonly end: () => Promise<number | null>;
}

/** `npm run example` on ports that the system chooses; resolves when it prints what to try. */
async function runExample(env: Readonly<Record<string, string>>): Promise<RunningExample> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, 'examples/run.ts')], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { NODE_COMPILE_CACHE: join(root, '.runtime/compile-cache'), ...env },
  });
  let output = '';
  const closed = once(child, 'close');
  const ready = Promise.withResolvers<void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      if (output.includes('Ctrl-C ends it.')) ready.resolve();
    });
  }
  void closed.then(() => ready.reject(new Error(`it ended: ${output}`)));
  await ready.promise;
  const end = async (): Promise<number | null> => {
    child.kill('SIGTERM');
    await closed;
    return child.exitCode;
  };
  return { output: () => output, end, [Symbol.asyncDispose]: async () => void (await end()) };
}

function proxyIn(output: string): string {
  return /curl -i (http:\S+)\/users\/42/.exec(output)?.[1] ?? '';
}

test('npm run example works on other ports, and uses a running gateway', async () => {
  const prefix = await mkdtemp(join(tmpdir(), 'sluicegate-example-'));
  const anywhere = '127.0.0.1:0';
  const env = {
    KONG_PREFIX: prefix,
    KONG_PROXY_LISTEN: anywhere,
    KONG_ADMIN_LISTEN: anywhere,
    KONG_STATUS_LISTEN: 'off',
    KONG_ADMIN_GUI_LISTEN: 'off',
    KONG_NGINX_WORKER_PROCESSES: '1',
    SLUICEGATE_ADMIN_TOKEN: 'a-token-of-the-example',
  };
  try {
    await using first = await runExample(env);
    assert.match(first.output(), /no gateway runs in .*; starting one/);
    assert.equal((await fetch(`${proxyIn(first.output())}/users/42`)).status, 200);
    {
      await using second = await runExample(env);
      assert.doesNotMatch(second.output(), /starting one/);
      assert.equal(proxyIn(second.output()), proxyIn(first.output()));
      assert.equal((await fetch(`${proxyIn(second.output())}/items`)).status, 200);
    }
    assert.equal(await first.end(), 0);
  } finally {
    await rm(prefix, { recursive: true, force: true });
  }
});

interface ItemPage {
  readonly data: readonly Item[];
  readonly nextCursor: string | null;
}

describe('the example', () => {
  let gateway: TestGateway;
  let backends: ExampleBackend[];
  before(async () => {
    gateway = await startTestGateway();
    backends = [await startUsers(), await startOrders(), await startItems()];
    await configure({ adminUrl: gateway.adminUrl, token: null }, backends);
  });
  after(async () => {
    await gateway.stop();
    await Promise.all(backends.map((backend) => backend.close()));
  });

  async function get(path: string): Promise<ItemPage> {
    const response = await fetch(gateway.proxyUrl + path);
    assert.equal(response.status, 200);
    return (await response.json()) as ItemPage;
  }

  it('routes to each backend', async () => {
    const user = await fetch(`${gateway.proxyUrl}/users/42`);
    assert.deepEqual(await user.json(), { id: 42, name: 'Douglas', email: 'douglas@example.com' });
    const order = await fetch(`${gateway.proxyUrl}/orders`, {
      method: 'POST',
      body: JSON.stringify({ user: 42, total: 12.5 }),
    });
    assert.equal(order.status, 201);
    assert.equal((await fetch(`${gateway.proxyUrl}/users/7`)).status, 404);
  });

  it('can be configured twice', async () => {
    await configure({ adminUrl: gateway.adminUrl, token: null }, backends);
    const { body } = await gateway.admin('GET', '/services');
    assert.equal((body['data'] as unknown[]).length, 3);
  });

  it('changes nothing in a gateway that has other services of these names', async () => {
    await using other = await startTestGateway();
    await other.admin('PUT', '/services/orders', { url: 'http://orders.internal:8080' });
    await assert.rejects(
      configure({ adminUrl: other.adminUrl, token: null }, backends),
      /already has \/services\/orders, not created by this example; nothing was changed/,
    );
    assert.equal((await other.admin('GET', '/services/orders')).body['host'], 'orders.internal');
    assert.equal((await other.admin('GET', '/services/users')).status, 404);
  });

  it('returns every item once by cursor', async () => {
    const ids: number[] = [];
    let cursor: string | null = null;
    do {
      const page: ItemPage = await get(`/items?limit=4${cursor === null ? '' : `&cursor=${cursor}`}`);
      ids.push(...page.data.map((item) => item.id));
      cursor = page.nextCursor;
    } while (cursor !== null);
    assert.deepEqual(
      ids,
      Array.from({ length: 25 }, (_, index) => index + 1),
    );
  });

  it('returns items by page, with limit or size', async () => {
    assert.deepEqual(
      (await get('/items?page=2&size=3')).data.map((item) => item.id),
      [4, 5, 6],
    );
    assert.deepEqual(await get('/items?page=2&limit=3').then((page) => page.data.length), 3);
    assert.deepEqual((await get('/items?page=99&limit=3')).data, []);
  });

  it('returns items backwards in time, including those of the same instant', async () => {
    const ids: number[] = [];
    let before: string | null = '2027-01-01T00:00:00Z';
    do {
      const page: ItemPage = await get(`/items?before=${before}&limit=3`);
      ids.push(...page.data.map((item) => item.id));
      before = page.nextCursor;
    } while (before !== null);
    assert.deepEqual(
      ids,
      Array.from({ length: 25 }, (_, index) => 25 - index),
    );
  });

  for (const query of ['limit=0', 'limit=x', 'page=0', 'cursor=zz', 'before=yesterday']) {
    it(`explains the error in ?${query}`, async () => {
      const response = await fetch(`${gateway.proxyUrl}/items?${query}`);
      assert.equal(response.status, 400);
      assert.match(((await response.json()) as { message: string }).message, new RegExp(query.split('=')[0] as string));
    });
  }
});
