import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Item, startItems } from '../examples/backends/items.ts';
import type { ExampleBackend } from '../examples/backends/json-backend.ts';
import { startOrders } from '../examples/backends/orders.ts';
import { startUsers } from '../examples/backends/users.ts';
import { configure } from '../examples/configure.ts';
import { startTestGateway, type TestGateway } from './support/gateway.ts';

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
    await configure(gateway.adminUrl, backends);
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

  it('may be configured twice', async () => {
    await configure(gateway.adminUrl, backends);
    const { body } = await gateway.admin('GET', '/services');
    assert.equal((body['data'] as unknown[]).length, 3);
  });

  it('walks items by cursor without repeating or skipping one', async () => {
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

  it('shows items by page, with limit or size', async () => {
    assert.deepEqual(
      (await get('/items?page=2&size=3')).data.map((item) => item.id),
      [4, 5, 6],
    );
    assert.deepEqual(await get('/items?page=2&limit=3').then((page) => page.data.length), 3);
    assert.deepEqual((await get('/items?page=99&limit=3')).data, []);
  });

  it('walks items back in time without losing those of the same instant', async () => {
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
    it(`says what is wrong with ?${query}`, async () => {
      const response = await fetch(`${gateway.proxyUrl}/items?${query}`);
      assert.equal(response.status, 400);
      assert.match(((await response.json()) as { message: string }).message, new RegExp(query.split('=')[0] as string));
    });
  }
});
