import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../../../test/support/gateway.ts';
import { type GuardedGateway, startGuardedGateway } from '../../access/users.fixture.ts';

interface Found {
  readonly entity: string;
  readonly id: string;
  readonly name: string;
  readonly field: string;
  readonly value: string;
  readonly enabled: boolean;
  readonly references: readonly { readonly field: string; readonly id: string; readonly name: string }[];
}

interface Answer {
  readonly data: readonly Found[];
  readonly read: number;
  readonly complete: boolean;
}

describe('GET /search', () => {
  let gateway: TestGateway;
  const ids = new Map<string, string>();

  async function create(path: string, body: object): Promise<string> {
    const { status, body: row } = await gateway.admin('POST', path, body);
    assert.equal(status, 201, JSON.stringify(row));
    return String(row['id']);
  }

  async function search(q: string, more = ''): Promise<Answer> {
    const { status, body } = await gateway.admin('GET', `/search?q=${encodeURIComponent(q)}${more}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body as unknown as Answer;
  }

  const firstOf = async (q: string): Promise<readonly unknown[]> => {
    const [first] = (await search(q)).data;
    return [first?.entity, first?.name, first?.field];
  };

  before(async () => {
    gateway = await startTestGateway();
    ids.set(
      'orders',
      await create('/services', { name: 'orders', host: 'orders.internal', port: 8443, tags: ['team-a'] }),
    );
    ids.set(
      'route',
      await create('/services/orders/routes', { name: 'list-orders', paths: ['/v1/orders'], hosts: ['shop.example'] }),
    );
    await create('/consumers', { username: 'Ada', custom_id: 'crm-42' });
    await create('/consumers/Ada/key-auth', { key: 'a-secret-key-of-ada', tags: ['mobile'] });
    await create('/consumers/Ada/basic-auth', { username: 'ada-basic', password: 'a-secret-password' });
    await create('/upstreams', { name: 'pool.internal' });
    await create('/upstreams/pool.internal/targets', { target: '10.0.0.9:8080' });
    await create('/routes/list-orders/plugins', {
      name: 'request-termination',
      config: { message: 'closed-for-today' },
    });
  });
  after(() => gateway.stop());

  test('finds by name, path, host, tag, username, custom id, URL and address of a target', async () => {
    assert.deepEqual(await firstOf('orders'), ['services', 'orders', 'name']);
    assert.deepEqual(await firstOf('/v1/ord'), ['routes', 'list-orders', 'paths']);
    assert.deepEqual(await firstOf('shop.ex'), ['routes', 'list-orders', 'hosts']);
    assert.deepEqual(await firstOf('team-a'), ['services', 'orders', 'tags']);
    assert.deepEqual(await firstOf('ADA'), ['consumers', 'Ada', 'username']);
    assert.deepEqual(await firstOf('crm-4'), ['consumers', 'Ada', 'custom_id']);
    assert.deepEqual(await firstOf('https://orders.internal:84'), [undefined, undefined, undefined]);
    assert.deepEqual(await firstOf('http://orders.internal:84'), ['services', 'orders', 'url']);
    assert.deepEqual(await firstOf('10.0.0.9'), ['targets', '10.0.0.9:8080', 'target']);
    assert.deepEqual(await firstOf('request-term'), ['plugins', 'request-termination', 'name']);
    assert.deepEqual(await firstOf('ada-b'), ['basicauth_credentials', 'ada-basic', 'username']);
  });

  test('finds by the beginning of an id, from four characters on', async () => {
    const id = ids.get('route') ?? '';
    for (const q of [id, id.slice(0, 8).toUpperCase(), id.slice(0, 4)]) {
      assert.ok(
        (await search(q)).data.some((one) => one.id === id && one.field === 'id'),
        q,
      );
    }
    assert.ok(!(await search(id.slice(0, 3))).data.some(({ field }) => field === 'id'));
    assert.ok(!(await search(id.slice(9))).data.some(({ field }) => field === 'id'), 'not in the middle');
  });

  test('all words have to occur; what fits best comes first; references have names', async () => {
    assert.deepEqual(
      (await search('orders shop')).data.map(({ name }) => name),
      ['list-orders'],
    );
    const { data } = await search('orders');
    assert.deepEqual(
      data.map(({ name }) => name),
      ['orders', 'list-orders'],
    );
    assert.deepEqual(data[1]?.references, [
      { field: 'service', entity: 'services', id: ids.get('orders'), name: 'orders' },
    ]);
    const [target] = (await search('10.0.0.9')).data;
    assert.deepEqual(
      target?.references.map(({ field, name }) => [field, name]),
      [['upstream', 'pool.internal']],
    );
  });

  test('neither finds nor shows secrets, nor the configuration of plugins', async () => {
    for (const secret of ['a-secret-key', 'a-secret-password', 'closed-for-today']) {
      assert.deepEqual((await search(secret)).data, [], secret);
    }
    const { data } = await search('mobile');
    assert.equal(data[0]?.entity, 'keyauth_credentials');
    assert.equal(data[0]?.name, data[0]?.id);
    assert.doesNotMatch(JSON.stringify(data), /a-secret/);
  });

  test('refuses queries without a word, long ones, sizes out of range and unknown parameters', async () => {
    for (const query of [
      '',
      '?q=',
      '?q=%20',
      `?q=${'a'.repeat(201)}`,
      '?q=a&size=0',
      '?q=a&size=101',
      '?q=a&size=x',
      '?q=a&x=1',
    ]) {
      assert.equal((await gateway.admin('GET', `/search${query}`)).status, 400, query);
    }
    assert.equal((await search('o', '&size=1')).data.length, 1);
    assert.deepEqual((await search('\u0000 %_*(')).data, []);
  });

  test('10,000 routes are searched within the limits, while others are answered', async () => {
    const routes = Array.from({ length: 10_000 }, (_, at) => ({ name: `route-${at}`, paths: [`/path-${at}`] }));
    for (let at = 0; at < routes.length; at += 5000) {
      const part = { _format_version: '3.0', routes: routes.slice(at, at + 5000) };
      assert.equal((await gateway.admin('POST', '/config/apply?mode=merge', part)).status, 200);
    }
    const { data, read, complete } = await search('path-9876');
    assert.deepEqual([data.map(({ name }) => name), complete], [['route-9876'], true]);
    assert.ok(read > 10_000);
    const many = await search('route');
    assert.equal(many.data.length, 20);
    // More at a time than are permitted: some are refused, none waits for long, and the others are right.
    const answers = await Promise.all(Array.from({ length: 12 }, () => gateway.admin('GET', '/search?q=path-123')));
    const statuses = new Set(answers.map(({ status }) => status));
    assert.deepEqual([...statuses].sort(), [200, 503]);
    assert.equal((await search('path-123')).complete, true, 'the refused ones left nothing behind');
  });
});

describe('GET /search with admin users', () => {
  let users: GuardedGateway;
  before(async () => {
    users = await startGuardedGateway();
  });
  after(async () => users[Symbol.asyncDispose]());

  test('admins find admin users, readers do not, and nobody without a token finds anything', async () => {
    const found = (await users.admin('GET', '/search?q=alice')).json['data'] as readonly Found[];
    assert.deepEqual(
      found.map(({ entity, name }) => [entity, name]),
      [['admin_users', 'alice']],
    );
    for (const caller of [users.reader, users.alice]) {
      assert.deepEqual((await caller('GET', '/search?q=alice')).json['data'], []);
    }
    assert.equal((await users.nobody('GET', '/search?q=alice')).status, 401);
  });
});
