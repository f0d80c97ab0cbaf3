import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { leastTime } from '../../../test/support/least-time.ts';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { type CompositeRig, type Config, many, ordersOf, startCompositeRig, user } from './gateway.fixture.ts';

let rig: CompositeRig;

before(async () => {
  rig = await startCompositeRig(['compression', 'key-auth', 'proxy-cache']);
});
after(() => rig.close());

describe('aggregate through a gateway', () => {
  test('combines a user and the orders of that user', async () => {
    const path = await rig.composite({ requests: [ordersOf, { ...user, target: '.' }] }, '/users/(?<id>[^/]+)');
    const flat = await rig.ask(`${path}/users/42`);
    assert.equal(flat.response.status, 200, flat.text);
    assert.deepEqual(flat.response.headers.get('content-type'), 'application/json; charset=utf-8');
    const nested = await rig.composite({ requests: [ordersOf, user] }, '/users/(?<id>[^/]+)');
    const { text } = await rig.ask(`${nested}/users/42`);
    assert.equal(
      text,
      '{"user":{"id":42,"name":"Ada","account":12345678901234567890,"orders":[{"id":1,"product":11},{"id":2,"product":12}]}}',
    );
    assert.equal(rig.received.at(-1)?.url, '/?user=42');
  });

  test('accepts a form-encoded configuration', async () => {
    await rig.write('PUT', '/routes/form', { paths: ['~/form/(?<id>\\d+)$'] });
    const form = [
      'name=aggregate',
      'config.requests[1].name=user',
      'config.requests[1].service=users',
      'config.requests[1].path=/users/{id}',
      'config.requests[1].omit[]=password',
      'config.requests[1].omit[]=account',
      'config.requests[2].name=orders',
      'config.requests[2].service=orders',
      'config.requests[2].path=/',
      'config.requests[2].query.user={user.body.id}',
      'config.requests[2].required=false',
      'config.requests[2].timeout=2000',
      'config.requests[2].pick[1]=next',
      'config.requests[2].pass_status=404',
      'config.response_headers[1].part=user',
      'config.response_headers[1].names[]=X-Path',
      'config.max_calls=9',
    ].join('&');
    const made = await rig.write('POST', '/routes/form/plugins', form);
    const { requests, max_calls: calls } = made['config'] as { requests: Record<string, unknown>[]; max_calls: number };
    assert.deepEqual(
      [requests[1]?.['query'], requests[1]?.['pass_status'], calls],
      [{ user: '{user.body.id}' }, [404], 9],
    );
    const { text, response } = await rig.ask('/form/42');
    assert.equal(text, '{"user":{"id":42,"name":"Ada"},"orders":{"next":null}}');
    assert.equal(response.headers.get('x-path'), '/users/42');
  });

  test('authenticates once, and sends the identity of the client to the backends', async () => {
    const path = await rig.composite({
      requests: [
        { name: 'a', service: 'others', path: '/who/{consumer.custom_id}', pass_headers: ['X-Trace'] },
        { name: 'b', url: rig.others, path: '/b' },
      ],
    });
    await rig.write('POST', `/routes${path}/plugins`, { name: 'key-auth' });
    await rig.write('PUT', '/consumers/ada', { custom_id: 'ada/1' });
    await rig.write('POST', '/consumers/ada/key-auth', { key: 'ada-key' });
    assert.equal((await rig.ask(path)).response.status, 401);
    const before = rig.received.length;
    const { json } = await rig.ask(path, { headers: { apikey: 'ada-key', 'X-Trace': 't', 'X-Other': 'o' } });
    assert.deepEqual((json['a'] as Config)['path'], '/who/ada%2F1');
    for (const { headers } of rig.received.slice(before)) {
      assert.deepEqual(
        [headers['x-consumer-custom-id'], headers['x-other'], headers['apikey']],
        ['ada/1', undefined, undefined],
      );
    }
    assert.deepEqual(
      rig.received
        .slice(before)
        .map(({ headers }) => headers['x-trace'])
        .sort(),
      ['t', undefined],
    );
  });

  test('converts XML and removes a content coding', async () => {
    const path = await rig.composite({
      requests: [
        { name: 'weather', service: 'others', path: '/xml', xml_numbers: ['weather/day'] },
        { name: 'gzip', service: 'others', path: '/gzip' },
      ],
    });
    const { json, text } = await rig.ask(path);
    assert.deepEqual(json, { weather: { '@unit': 'C', town: 'Bern', day: [7, 9] }, gzip: { small: true } }, text);
  });

  test('answers HEAD with the length of the response to GET', async () => {
    const path = await rig.composite({ requests: [{ name: 'a', service: 'others', path: '/a' }] });
    const { text } = await rig.ask(path);
    const head = await exchangeOne(rig.port, `HEAD ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, 'HEAD');
    assert.match(head.startLine, / 200 /);
    assert.deepEqual([head.get('content-length'), head.body.length], [String(text.length), 0]);
  });

  test('uses values of the body of the client', async () => {
    const path = await rig.composite({
      requests: [{ name: 'a', service: 'users', path: '/users/{body.ids[0]}', pick: ['id'] }],
    });
    const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      rig.ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body });
    assert.deepEqual((await send('{"ids":[7]}')).json, { a: { id: 7 } });
    const zipped = new Uint8Array(gzipSync('{"ids":[8]}'));
    assert.deepEqual((await send(zipped, { 'Content-Encoding': 'gzip' })).json, { a: { id: 8 } });
    const broken = await send('{"ids":[}');
    assert.deepEqual([broken.response.status, /line 1, column 9/.test(broken.text)], [400, true], broken.text);
    assert.equal((await send('{}')).response.status, 400);
    assert.equal((await send(JSON.stringify({ ids: ['x'.repeat(1_100_000)] }))).response.status, 413);
  });

  test('confines hostile captures, queries and headers to their places', async () => {
    const part = {
      name: 'a',
      service: 'others',
      path: '/x/{v}/end',
      query: { q: '{query.q}' },
      headers: { 'X-In': '{query.h}' },
    };
    const path = await rig.composite({ requests: [part] }, '/(?<v>[^/]*)');
    const send = (target: string) => exchangeOne(rig.port, `GET ${path}/${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const before = rig.received.length;
    for (const value of ['..%2fadmin', '%2e%2e%2fadmin', '..%5cadmin', '%2e%2e;x', 'a%0d%0aX:1']) {
      const { startLine } = await send(value);
      assert.match(startLine, / 40[04] /, value);
    }
    assert.equal(rig.received.length, before);
    const passed: readonly [string, string][] = [
      ['a%3Fb=1', '/x/a%3Fb%3D1/end'],
      ['a%23b', '/x/a%23b/end'],
      ['%252e%252e', '/x/%252e%252e/end'],
      ['%40evil.test', '/x/%40evil.test/end'],
      ['caf%C3%A9', '/x/caf%C3%A9/end'],
    ];
    for (const [value, url] of passed) {
      await send(value);
      assert.equal(rig.received.at(-1)?.url, url, value);
    }
    await send('v?q=1%26admin=1%23%0d%0a&h=a%0d%0aEvil:%20yes');
    const last = rig.received.at(-1);
    assert.equal(last?.url, '/x/v/end?q=1%26admin%3D1%23%0D%0A');
    assert.deepEqual([last.headers['x-in'], last.headers['evil']], ['a Evil: yes', undefined]);
  });
});

describe('aggregate: order of the calls', () => {
  test('calls independent parts at once and dependent ones afterwards', async () => {
    const part = (name: string, delay: number, path: string) => ({
      name,
      service: 'others',
      path,
      query: { delay: String(delay) },
    });
    const path = await rig.composite({
      requests: [
        part('c', 0, '/order/c/{a.status}/{b.status}'),
        part('a', 400, '/order/a'),
        part('b', 400, '/order/b'),
      ],
    });
    const took = await leastTime(780, async () => assert.equal((await rig.ask(path)).response.status, 200));
    const urls = rig.received.map(({ url }) => url.split('?')[0]).filter((url) => url?.startsWith('/order/'));
    assert.equal(urls.at(-1), '/order/c/200/200');
    assert.ok(took < 780, `${took} ms: they were received one after the other`);
  });

  test('fans out over a list with bounded concurrency', async () => {
    const config = {
      requests: [
        { ...ordersOf, path: '/', query: { user: '9' }, target: 'orders', hidden: true },
        {
          name: 'products',
          service: 'others',
          path: '/product/{item.product}',
          each: 'orders.body.data',
          each_into: 'detail',
          pick: ['path'],
        },
      ],
    };
    const { json } = await rig.ask(await rig.composite(config));
    assert.deepEqual(json['products'], [
      { id: 1, user: '9', product: 11, detail: { path: '/product/11' } },
      { id: 2, user: '9', product: 12, detail: { path: '/product/12' } },
    ]);
  });
});

describe('aggregate: large responses', () => {
  const huge = { service: 'others', max_body_size: 8_000_000 };

  test('are parsed in another thread with the same result', async () => {
    const path = await rig.composite({
      requests: [
        { ...huge, name: 'huge', path: '/huge', omit: ['list[*].secret'] },
        {
          name: 'inside',
          service: 'others',
          path: '/in/{huge.body.key}/{huge.body.list[2].name}',
          target: 'huge.inside',
        },
        { ...huge, name: 'xml', path: '/huge-xml', xml_numbers: ['id'], unwrap: 'one' },
      ],
    });
    const { response, json, text } = await rig.ask(path);
    assert.equal(response.status, 200, text.slice(0, 300));
    const parts = json as { huge: Record<string, unknown>; xml: unknown };
    assert.deepEqual(parts.huge['inside'], { path: '/in/k/number%202', search: '' });
    assert.deepEqual(
      parts.huge['list'],
      many(20_000).map(({ id, name }) => ({ id, name })),
    );
    assert.deepEqual(
      parts.xml,
      many(5_000).map(({ id }) => ({ id })),
    );
    assert.match(text, /"big":12345678901234567890,/);
  });

  test('are limited in their total size', async () => {
    const requests = [1, 2].map((id) => ({ ...huge, name: `h${id}`, path: '/huge', required: false }));
    const { response, json } = await rig.ask(await rig.composite({ requests, max_body_size: 1_000_000 }));
    assert.deepEqual([response.status, json['reason']], [502, 'too-large']);
  });
});

describe('aggregate: other plugins and the document', () => {
  test('proxy-cache stores a complete document, but not one with a failed part', async () => {
    const good = { name: 'good', service: 'others', path: '/kept' };
    const cached = async (requests: readonly Config[]) => {
      const path = await rig.composite({ requests });
      await rig.write('POST', `/routes${path}/plugins`, {
        name: 'proxy-cache',
        config: { strategy: 'memory', cache_ttl: 60, content_type: ['application/json; charset=utf-8'] },
      });
      const first = await rig.ask(path);
      const second = await rig.ask(path);
      assert.equal(first.text, second.text);
      return second.response.headers.get('x-cache-status');
    };
    const before = rig.received.filter(({ url }) => url === '/kept').length;
    assert.equal(await cached([good]), 'Hit');
    assert.equal(rig.received.filter(({ url }) => url === '/kept').length, before + 1);
    assert.notEqual(await cached([good, { ...good, name: 'bad', path: '/500', required: false }]), 'Hit');
    assert.equal(rig.received.filter(({ url }) => url === '/kept').length, before + 3);
  });

  test('compression compresses it', async () => {
    const path = await rig.composite({ requests: [{ name: 'xml', service: 'others', path: '/huge-xml' }] });
    await rig.write('POST', `/routes${path}/plugins`, { name: 'compression', config: {} });
    const { response, json } = await rig.ask(path, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.deepEqual([response.headers.get('content-encoding'), Object.keys(json)], ['gzip', ['xml']]);
  });
});
