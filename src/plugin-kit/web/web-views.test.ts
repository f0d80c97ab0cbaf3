import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { definePlugin, httpProtocols, type PluginNeeds, type PluginPhases } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { type PluginTest, testPlugin } from '../../plugin-testing/index.ts';
import { replyFrom, webHeaders, webRequest, webResponse } from './index.ts';

/** A plugin with these phases. */
function withPhases(phases: PluginPhases, needs: PluginNeeds = {}): PluginTest {
  const schema = { config: record({}) };
  const protocols = httpProtocols;
  return testPlugin(
    definePlugin({ name: 'web', version: '1.0.0', priority: 1, protocols, schema, needs, setup: () => phases }),
  );
}

/** What a handler sees of a request. */
function seen<T>(look: (request: Request) => T | Promise<T>, needs: PluginNeeds = {}) {
  const plugin = withPhases(
    { access: async (context) => void found.push(await look(webRequest(context))) as undefined },
    needs,
  );
  const found: T[] = [];
  return async (...request: Parameters<PluginTest['request']>): Promise<T> => {
    const { response } = await plugin.request(...request);
    assert.equal(response.status, 200, plugin.logLines.map(({ fields }) => JSON.stringify(fields)).join());
    return found.pop() as T;
  };
}

const body = { requestBody: { maxBytes: 1000 } };

test('a request has its method, its URL and its headers', async () => {
  const look = seen((request) => ({
    isRequest: request instanceof Request,
    method: request.method,
    url: request.url,
    accept: request.headers.get('ACCEPT'),
    cookies: request.headers.get('cookie'),
  }));
  const headers = { Host: 'API.example:8080', Accept: ['a/b', 'c/d'], Cookie: ['a=1', 'b=2'] };
  assert.deepEqual(await look({ method: 'PURGE', path: '/a%20b/../c?x=%zz&y="', headers, scheme: 'https' }), {
    isRequest: true,
    method: 'PURGE',
    url: 'https://api.example:8080/c?x=%zz&y=%22',
    accept: 'a/b, c/d',
    cookies: 'a=1; b=2',
  });
});

test('the path of the URL is the one that routes are matched against, byte for byte', async () => {
  const look = seen(({ url }) => new URL(url).pathname);
  for (const [path, pathname] of [
    ['/%41%2e%2e/%2e%2e/x', '/x'],
    ['/a%2Fb%3Fc%23', '/a%2Fb%3Fc%23'],
    ['/caf%E9/%C3%A9', '/caf%E9/%C3%A9'],
    ['/%5C%5Cevil.example/%22', '/%5C%5Cevil.example/%22'],
    ['//evil.example/x', '/evil.example/x'],
  ] as const) {
    assert.equal(await look({ path }), pathname, path);
  }
});

test('a Host that no URL can have is replaced by the address that the client connected to', async () => {
  const look = seen(({ url }) => url);
  for (const host of ['1.2.3.4.5', 'a%2Fb', 'a:99999', 'a%']) {
    assert.equal(await look({ headers: { Host: host } }), 'http://127.0.0.1:8000/', host);
  }
  assert.equal(await look({ headers: { Host: '[::1]:9' } }), 'http://[::1]:9/');
});

test('headers have every byte that a value can have, and UTF-8 is read on request', async () => {
  const bytes = Array.from({ length: 128 }, (_, at) => String.fromCharCode(128 + at)).join('');
  assert.equal(
    await seen(({ headers }) => headers.get('x-bytes'))({ headers: { 'X-Bytes': `a\t${bytes}` } }),
    `a\t${bytes}`,
  );
});

test('a header that Connection names is sent to the backend once a handler could check it', async () => {
  const headers = { Connection: 'close, x-admin', 'X-Admin': 'yes' };
  const plugin = withPhases({ access: (context) => void webRequest(context).headers.get('x-other') as undefined });
  assert.equal((await plugin.request({ headers })).upstream?.header('x-admin'), 'yes');
  assert.equal((await withPhases({ access: () => undefined }).request({ headers })).upstream?.header('x-admin'), null);
});

test('a value that Headers refuses is reported without the value', () => {
  const view = { headers: () => ({ 'x-a': ['sec\nret'] }), header: () => null };
  assert.throws(() => webHeaders(view), new TypeError('Headers refuses the header "x-a"'));
});

test('the body is read on demand, once, decoded', async () => {
  const look = seen(async (request) => {
    const before = [request.bodyUsed, request.body === null];
    const copy = request.clone();
    const read = [await request.json(), await copy.text()];
    await assert.rejects(request.text(), TypeError);
    assert.throws(() => request.clone(), TypeError);
    return [...before, ...read, request.bodyUsed];
  }, body);
  const headers = { 'Content-Type': 'application/json' };
  assert.deepEqual(await look({ method: 'POST', body: '{"a":1}', headers }), [false, false, { a: 1 }, '{"a":1}', true]);
  const zipped = { ...headers, 'Content-Encoding': 'gzip' };
  assert.deepEqual((await look({ method: 'POST', body: gzipSync('[1]'), headers: zipped }))[2], [1]);
});

test('a form is read by its type, and there may be no body', async () => {
  const form = seen(async (request) => (await request.formData()).getAll('a'), body);
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  assert.deepEqual(await form({ method: 'POST', body: 'a=1&a=%C3%A9', headers }), ['1', 'é']);
  assert.deepEqual(await seen(async (request) => [request.body, await request.text()], body)(), [null, '']);
});

test('what reads the body may change its bytes, and the backend receives the original', async () => {
  const plugin = withPhases(
    {
      async access(context) {
        for await (const piece of webRequest(context).body ?? []) (piece as Uint8Array).fill(0);
        return undefined;
      },
    },
    body,
  );
  assert.equal((await plugin.request({ method: 'POST', body: 'original' })).upstream?.body, 'original');
});

test('a body that is too large is answered with 413, although the handler caught nothing', async () => {
  const plugin = withPhases({ access: async (context) => void (await webRequest(context).text()) as undefined }, body);
  assert.equal((await plugin.request({ method: 'POST', body: 'x'.repeat(1001) })).response.status, 413);
});

test('a broken content coding is answered with 400', async () => {
  const plugin = withPhases({ access: async (context) => void (await webRequest(context).text()) as undefined }, body);
  const headers = { 'Content-Encoding': 'gzip' };
  assert.equal((await plugin.request({ method: 'POST', body: 'no gzip', headers })).response.status, 400);
});

test('a body that no plugin declares cannot be read', async () => {
  const look = seen((request) => request.text().catch((error: unknown) => String(error)));
  assert.match(String(await look({ method: 'POST', body: 'x' })), /does not declare/);
});

test('a copy of the platform is made of the parts of the view', async () => {
  const look = seen(async (view) => {
    const copy = new Request(view.url, view);
    return [copy.method, copy.headers.get('x-a'), await copy.text()];
  }, body);
  assert.deepEqual(await look({ method: 'PUT', body: 'text', headers: { 'X-A': '1' } }), ['PUT', '1', 'text']);
});

test('no member of the platform is left to a view that it would refuse', async () => {
  const request = seen((view) => Object.getPrototypeOf(view) as object);
  assert.deepEqual(missing(Request.prototype, await request()), []);
  const responses: Response[] = [];
  const buffered = { responseBody: { mode: 'buffer', maxBytes: 10 } } as const;
  const plugin = withPhases(
    { response: (context) => void responses.push(webResponse(context)) as undefined },
    buffered,
  );
  await plugin.request();
  const [response] = responses;
  assert.ok(response instanceof Response);
  assert.deepEqual(missing(Response.prototype, Object.getPrototypeOf(response)), []);
});

function missing(standard: object, view: object): readonly string[] {
  return Object.getOwnPropertyNames(standard).filter((name) => !Object.hasOwn(view, name));
}

test('a response has status, headers and body, and can be answered again', async () => {
  const buffered = { responseBody: { mode: 'buffer', maxBytes: 1000 } } as const;
  const plugin = withPhases(
    {
      async response(context) {
        const response = webResponse(context);
        assert.deepEqual(await response.clone().json(), { a: 1 });
        assert.deepEqual([response.ok, response.headers.getSetCookie()], [false, ['a=1', 'b=2']]);
        return replyFrom(new Response(response.body, response));
      },
    },
    buffered,
  );
  const backend = { status: 404, headers: { 'Set-Cookie': ['a=1', 'b=2'], 'X-A': '1' }, body: '{"a":1}' };
  const { response } = await plugin.request({ backend });
  assert.deepEqual([response.status, response.body, response.header('x-a')], [404, '{"a":1}', '1']);
  assert.deepEqual(response.headers['set-cookie'], ['a=1', 'b=2']);
});
