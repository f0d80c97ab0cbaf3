import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type BackendHandler, startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';
import { exchangeOne, openClient } from '../../../test/support/raw-client.ts';
import { until } from '../../../test/support/until.ts';

type Config = Readonly<Record<string, unknown>>;

interface Asked {
  readonly backend: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  /** The gateway has given the call up. */
  aborted: boolean;
}

const asked: Asked[] = [];
let gateway: TestGateway;
let backends: TestBackend[] = [];
let refused = '';
let serial = 0;

/** Sends JSON; `delay` in the query holds it back, `hang` for ever. */
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

function backend(name: string, answer: (url: URL, response: ServerResponse) => void): Promise<TestBackend> {
  const handler: BackendHandler = (request, response) => {
    const entry: Asked = { backend: name, url: request.url ?? '', headers: request.headers, aborted: false };
    asked.push(entry);
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

const many = (count: number) => Array.from({ length: count }, (_, id) => ({ id, name: `number ${id}`, secret: 'x' }));

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

before(async () => {
  backends = [await backend('users', users), await backend('orders', orders), await backend('others', others)];
  const closed = createServer().listen(0, '127.0.0.1');
  await once(closed, 'listening');
  refused = `http://127.0.0.1:${(closed.address() as { port: number }).port}`;
  closed.close();
  gateway = await startTestGateway({ settings: { plugins: ['aggregate', 'compression', 'key-auth', 'proxy-cache'] } });
  for (const { url, server } of backends) {
    const name = ['users', 'orders', 'others'][backends.findIndex((one) => one.server === server)] ?? '';
    await write('PUT', `/services/${name}`, { url, retries: 0 });
  }
});
after(async () => {
  await gateway?.stop();
  for (const one of backends) await one.close();
});

async function write(method: string, path: string, body: unknown): Promise<Readonly<Record<string, unknown>>> {
  const answer = await gateway.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A composite route without a service; returns its path. */
async function composite(config: Config, path = ''): Promise<string> {
  const name = `c${serial++}`;
  await write('PUT', `/routes/${name}`, { paths: [`~/${name}${path}$`] });
  await write('POST', `/routes/${name}/plugins`, { name: 'aggregate', config });
  return `/${name}`;
}

interface Got {
  readonly response: Response;
  readonly text: string;
  readonly json: Record<string, unknown>;
}

async function ask(path: string, init: RequestInit = {}): Promise<Got> {
  const response = await fetch(gateway.proxyUrl + path, init);
  const text = await response.text();
  return { response, text, json: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>) };
}

const user = { name: 'user', service: 'users', path: '/users/{id}', omit: ['password'] };
const ordersOf = {
  name: 'orders',
  service: 'orders',
  path: '/',
  query: { user: '{user.body.id}' },
  target: 'user.orders',
  unwrap: 'data',
  pick: ['id', 'product'],
};

describe('aggregate through a gateway', () => {
  test('puts a user and the orders of that user into one answer', async () => {
    const path = await composite({ requests: [ordersOf, { ...user, target: '.' }] }, '/users/(?<id>[^/]+)');
    const flat = await ask(`${path}/users/42`);
    assert.equal(flat.response.status, 200, flat.text);
    assert.deepEqual(flat.response.headers.get('content-type'), 'application/json; charset=utf-8');
    const nested = await composite({ requests: [ordersOf, user] }, '/users/(?<id>[^/]+)');
    const { text } = await ask(`${nested}/users/42`);
    assert.equal(
      text,
      '{"user":{"id":42,"name":"Ada","account":12345678901234567890,"orders":[{"id":1,"product":11},{"id":2,"product":12}]}}',
    );
    assert.equal(asked.at(-1)?.url, '/?user=42');
  });

  test('is configured by a form, too', async () => {
    await write('PUT', '/routes/form', { paths: ['~/form/(?<id>\\d+)$'] });
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
    const made = await write('POST', '/routes/form/plugins', form);
    const { requests, max_calls: calls } = made['config'] as { requests: Record<string, unknown>[]; max_calls: number };
    assert.deepEqual(
      [requests[1]?.['query'], requests[1]?.['pass_status'], calls],
      [{ user: '{user.body.id}' }, [404], 9],
    );
    const { text, response } = await ask('/form/42');
    assert.equal(text, '{"user":{"id":42,"name":"Ada"},"orders":{"next":null}}');
    assert.equal(response.headers.get('x-path'), '/users/42');
  });

  test('is authenticated once, and tells backends who the client is', async () => {
    const path = await composite({
      requests: [
        { name: 'a', service: 'others', path: '/who/{consumer.custom_id}', pass_headers: ['X-Trace'] },
        { name: 'b', url: backends[2]?.url, path: '/b' },
      ],
    });
    await write('POST', `/routes${path}/plugins`, { name: 'key-auth' });
    await write('PUT', '/consumers/ada', { custom_id: 'ada/1' });
    await write('POST', '/consumers/ada/key-auth', { key: 'ada-key' });
    assert.equal((await ask(path)).response.status, 401);
    const before = asked.length;
    const { json } = await ask(path, { headers: { apikey: 'ada-key', 'X-Trace': 't', 'X-Other': 'o' } });
    assert.deepEqual((json['a'] as Config)['path'], '/who/ada%2F1');
    for (const { headers } of asked.slice(before)) {
      assert.deepEqual(
        [headers['x-consumer-custom-id'], headers['x-other'], headers['apikey']],
        ['ada/1', undefined, undefined],
      );
    }
    assert.deepEqual(
      asked
        .slice(before)
        .map(({ headers }) => headers['x-trace'])
        .sort(),
      ['t', undefined],
    );
  });

  test('converts XML, and takes a content coding off', async () => {
    const path = await composite({
      requests: [
        { name: 'weather', service: 'others', path: '/xml', xml_numbers: ['weather/day'] },
        { name: 'gzip', service: 'others', path: '/gzip' },
      ],
    });
    const { json, text } = await ask(path);
    assert.deepEqual(json, { weather: { '@unit': 'C', town: 'Bern', day: [7, 9] }, gzip: { small: true } }, text);
  });

  test('answers HEAD with the length of the answer to GET', async () => {
    const path = await composite({ requests: [{ name: 'a', service: 'others', path: '/a' }] });
    const { text } = await ask(path);
    const head = await exchangeOne(gateway.proxyPort, `HEAD ${path} HTTP/1.1\r\nHost: x\r\n\r\n`, 'HEAD');
    assert.match(head.startLine, / 200 /);
    assert.deepEqual([head.get('content-length'), head.body.length], [String(text.length), 0]);
  });

  test('uses what a client sends in its body', async () => {
    const path = await composite({
      requests: [{ name: 'a', service: 'users', path: '/users/{body.ids[0]}', pick: ['id'] }],
    });
    const send = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
      ask(path, { method: 'POST', headers: { 'Content-Type': 'application/json', ...headers }, body });
    assert.deepEqual((await send('{"ids":[7]}')).json, { a: { id: 7 } });
    const zipped = new Uint8Array(gzipSync('{"ids":[8]}'));
    assert.deepEqual((await send(zipped, { 'Content-Encoding': 'gzip' })).json, { a: { id: 8 } });
    const broken = await send('{"ids":[}');
    assert.deepEqual([broken.response.status, /line 1, column 9/.test(broken.text)], [400, true], broken.text);
    assert.equal((await send('{}')).response.status, 400);
    assert.equal((await send(JSON.stringify({ ids: ['x'.repeat(1_100_000)] }))).response.status, 413);
  });

  test('keeps hostile captures, queries and headers in their places', async () => {
    const part = {
      name: 'a',
      service: 'others',
      path: '/x/{v}/end',
      query: { q: '{query.q}' },
      headers: { 'X-In': '{query.h}' },
    };
    const path = await composite({ requests: [part] }, '/(?<v>[^/]*)');
    const send = (target: string) =>
      exchangeOne(gateway.proxyPort, `GET ${path}/${target} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const before = asked.length;
    for (const value of ['..%2fadmin', '%2e%2e%2fadmin', '..%5cadmin', '%2e%2e;x', 'a%0d%0aX:1']) {
      const { startLine } = await send(value);
      assert.match(startLine, / 40[04] /, value);
    }
    assert.equal(asked.length, before);
    const passed: readonly [string, string][] = [
      ['a%3Fb=1', '/x/a%3Fb%3D1/end'],
      ['a%23b', '/x/a%23b/end'],
      ['%252e%252e', '/x/%252e%252e/end'],
      ['%40evil.test', '/x/%40evil.test/end'],
      ['caf%C3%A9', '/x/caf%C3%A9/end'],
    ];
    for (const [value, url] of passed) {
      await send(value);
      assert.equal(asked.at(-1)?.url, url, value);
    }
    await send('v?q=1%26admin=1%23%0d%0a&h=a%0d%0aEvil:%20yes');
    const last = asked.at(-1);
    assert.equal(last?.url, '/x/v/end?q=1%26admin%3D1%23%0D%0A');
    assert.deepEqual([last.headers['x-in'], last.headers['evil']], ['a Evil: yes', undefined]);
  });
});

describe('aggregate: failures through a gateway', () => {
  const faults: readonly [what: string, part: Config, status: number, reason: string][] = [
    ['/500', {}, 502, 'status'],
    ['/bad-json', {}, 502, 'malformed'],
    ['/bad-xml', {}, 502, 'malformed'],
    ['/entity', {}, 502, 'malformed'],
    ['/large', { max_body_size: 1_000 }, 502, 'too-large'],
    ['/bomb', {}, 502, 'bad-answer'],
    ['/huge-bad', { max_body_size: 10_000_000 }, 502, 'malformed'],
    ['/cut', {}, 502, 'bad-answer'],
    ['/slow', { query: { hang: '1' }, timeout: 100 }, 504, 'timeout'],
    ['/gone', { service: 'no-such-service' }, 503, 'misconfigured'],
    ['/refused', { service: null, url: 'refused' }, 502, 'unreachable'],
  ];
  for (const [path, more, status, reason] of faults) {
    test(`${path} gives ${status} when it is required, an error when it is not`, async () => {
      const url = more['url'] === 'refused' ? { url: refused } : {};
      const part = { name: 'part', service: 'others', path, ...more, ...url };
      const good = { name: 'good', service: 'others', path: '/good' };
      const required = await ask(await composite({ requests: [good, part] }));
      assert.deepEqual(
        [required.response.status, required.json['part'], required.json['reason']],
        [status, 'part', reason],
      );
      assert.doesNotMatch(required.text, /secret|127\.0\.0\.1/);
      const optional = await ask(await composite({ requests: [good, { ...part, required: false }] }));
      const [error] = optional.json['errors'] as Config[];
      assert.deepEqual([optional.response.status, optional.json['part'], error?.['reason']], [200, null, reason]);
      assert.equal(optional.response.headers.get('x-aggregate-complete'), 'false');
      assert.equal(optional.response.headers.get('cache-control'), 'no-store');
      assert.doesNotMatch(optional.text, /secret|127\.0\.0\.1/);
    });
  }

  test('passes a status on, or takes it for nothing', async () => {
    const gone = { ...user, path: '/users/404' };
    const passed = await ask(await composite({ requests: [{ ...gone, pass_status: [404] }] }));
    assert.deepEqual([passed.response.status, passed.json['part']], [404, 'user']);
    const absent = await ask(await composite({ requests: [{ ...gone, null_on_status: [404] }, ordersOf] }));
    assert.deepEqual([absent.response.status, absent.json], [200, { user: { orders: null } }]);
  });

  test('has a deadline for the whole', async () => {
    const slow = { name: 'slow', service: 'others', path: '/a', query: { delay: '80' } };
    const then = { name: 'then', service: 'others', path: '/b', query: { hang: '{slow.status}' } };
    const { response, json } = await ask(await composite({ requests: [slow, then], timeout: 200 }));
    assert.deepEqual([response.status, json['part']], [504, 'then']);
  });

  test('gives the other calls up when a required part fails', async () => {
    const path = await composite({
      requests: [
        { name: 'hangs', service: 'orders', path: '/held', query: { hang: '1' } },
        { name: 'fails', service: 'others', path: '/500' },
      ],
    });
    const { response, json } = await ask(path);
    assert.deepEqual([response.status, json['part']], [502, 'fails']);
    await until(() => asked.some(({ url, aborted }) => url === '/held?hang=1' && aborted));
  });

  test('gives the calls up when the client goes away', async () => {
    const path = await composite({
      requests: [
        { name: 'a', service: 'orders', path: '/left', query: { hang: '1' } },
        { name: 'b', service: 'others', path: '/left', query: { hang: '1' } },
      ],
    });
    using client = await openClient(gateway.proxyPort);
    client.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const left = () => asked.filter(({ url }) => url === '/left?hang=1');
    await until(() => left().length === 2);
    client.reset();
    await until(() => left().every(({ aborted }) => aborted));
  });
});

describe('aggregate: order of the calls', () => {
  test('asks independent parts at once and dependent ones after', async () => {
    const part = (name: string, delay: number, path: string) => ({
      name,
      service: 'others',
      path,
      query: { delay: String(delay) },
    });
    const path = await composite({
      requests: [
        part('c', 0, '/order/c/{a.status}/{b.status}'),
        part('a', 120, '/order/a'),
        part('b', 120, '/order/b'),
      ],
    });
    const before = performance.now();
    const { response } = await ask(path);
    const took = performance.now() - before;
    assert.equal(response.status, 200);
    const urls = asked.map(({ url }) => url.split('?')[0]).filter((url) => url?.startsWith('/order/'));
    assert.equal(urls.at(-1), '/order/c/200/200');
    assert.ok(took < 230, `${took} ms: they were asked one after the other`);
  });

  test('fans out over a list, bounded', async () => {
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
    const { json } = await ask(await composite(config));
    assert.deepEqual(json['products'], [
      { id: 1, user: '9', product: 11, detail: { path: '/product/11' } },
      { id: 2, user: '9', product: 12, detail: { path: '/product/12' } },
    ]);
  });
});

describe('aggregate: large answers', () => {
  const huge = { service: 'others', max_body_size: 10_000_000 };

  test('are read in another thread, and give the same', async () => {
    const path = await composite({
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
    const { response, json, text } = await ask(path);
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

  test('must not be too large together', async () => {
    const requests = [1, 2].map((id) => ({ ...huge, name: `h${id}`, path: '/huge', required: false }));
    const { response, json } = await ask(await composite({ requests, max_body_size: 1_000_000 }));
    assert.deepEqual([response.status, json['reason']], [502, 'too-large']);
  });
});

describe('aggregate: what other plugins do with the document', () => {
  test('proxy-cache keeps a whole one, and none that lacks a part', async () => {
    const good = { name: 'good', service: 'others', path: '/kept' };
    const cached = async (requests: readonly Config[]) => {
      const path = await composite({ requests });
      await write('POST', `/routes${path}/plugins`, {
        name: 'proxy-cache',
        config: { strategy: 'memory', cache_ttl: 60, content_type: ['application/json; charset=utf-8'] },
      });
      const first = await ask(path);
      const second = await ask(path);
      assert.equal(first.text, second.text);
      return second.response.headers.get('x-cache-status');
    };
    const before = asked.filter(({ url }) => url === '/kept').length;
    assert.equal(await cached([good]), 'Hit');
    assert.equal(asked.filter(({ url }) => url === '/kept').length, before + 1);
    assert.notEqual(await cached([good, { ...good, name: 'bad', path: '/500', required: false }]), 'Hit');
    assert.equal(asked.filter(({ url }) => url === '/kept').length, before + 3);
  });

  test('compression packs it', async () => {
    const path = await composite({ requests: [{ name: 'xml', service: 'others', path: '/huge-xml' }] });
    await write('POST', `/routes${path}/plugins`, { name: 'compression', config: {} });
    const { response, json } = await ask(path, { headers: { 'Accept-Encoding': 'gzip' } });
    assert.deepEqual([response.headers.get('content-encoding'), Object.keys(json)], ['gzip', ['xml']]);
  });
});
