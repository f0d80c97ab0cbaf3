import assert from 'node:assert/strict';
import { test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import requestTransformer from './index.ts';

type Config = Readonly<Record<string, unknown>>;

async function send(config: Config, request: TestRequest = {}) {
  const { upstream, response } = await testPlugin(requestTransformer, { config }).request(request);
  if (upstream === null) assert.fail(`${response.status} ${response.body}`);
  return upstream;
}

async function status(config: Config, request: TestRequest): Promise<number> {
  const { upstream, response } = await testPlugin(requestTransformer, { config }).request(request);
  assert.equal(upstream, null);
  return response.status;
}

async function problem(config: Config): Promise<string> {
  const result = await testPlugin(requestTransformer).check(config);
  return result.ok ? 'accepted' : result.message;
}

const jsonHeaders = { 'Content-Type': 'application/json' };
const formHeaders = { 'Content-Type': 'application/x-www-form-urlencoded' };

test('has every record with empty lists by default', async () => {
  const empty = { body: [], headers: [], querystring: [] };
  assert.deepEqual(await testPlugin(requestTransformer).check({}), {
    ok: true,
    config: {
      http_method: null,
      remove: empty,
      rename: empty,
      replace: { ...empty, uri: null },
      add: empty,
      append: empty,
      max_body_size: 8_388_608,
    },
  });
});

test('refuses rules that cannot work', async () => {
  const cases: readonly (readonly [Config, RegExp])[] = [
    [{ http_method: 'get' }, /config.http_method: invalid value: get/],
    [{ http_method: 'CONNECT' }, /config.http_method: must not be one of/],
    [{ add: { headers: ['X-A'] } }, /key 'X-A' has no value/],
    [{ add: { headers: ['X A:1'] } }, /'X A' is not a valid header/],
    [{ rename: { headers: ['X-A:X B'] } }, /'X B' is not a valid header/],
    [{ rename: { querystring: ['a'] } }, /key 'a' has no value/],
    [{ remove: { headers: ['a b'] } }, /bad header name/],
    [{ add: { headers: ['X-A:a\r\nX-B: b'] } }, /control character/],
    [{ replace: { headers: ['Host:a b'] } }, /invalid hostname/],
    [{ add: { querystring: ['a:$(x.y)'] } }, /value '\$\(x\.y\)' is not in supported format, error:there is no 'x'/],
    [{ add: { headers: ['X-A:$(headers.x'] } }, /value '\$\(headers\.x' is not in supported format, error:/],
    [{ add: { body: ['a..b:1'] } }, /'a\.\.b' is not a path/],
    [{ replace: { uri: '/a?b=1' } }, /not in supported format, error:a path has no query/],
    [{ replace: { uri: '/a/../b' } }, /dot segments/],
    [{ replace: { uri: '/$(nothing)' } }, /there is no 'nothing'/],
  ];
  for (const [config, reason] of cases) assert.match(await problem(config), reason);
});

test('changes headers by remove, rename, replace, add, append, in this order', async () => {
  const upstream = await send(
    {
      remove: { headers: ['X-Gone'] },
      rename: { headers: ['X-Old:X-New', 'X-Gone:X-Never'] },
      replace: { headers: ['X-New:replaced', 'X-Absent:never'] },
      add: { headers: ['X-New:never', 'X-Added:yes', 'X-Gone:again', 'X-Url: http://a/b'] },
      append: { headers: ['X-Added:more', 'X-Appended:1', 'X-Appended:2'] },
    },
    { headers: { 'x-gone': '1', 'x-old': ['a', 'b'] } },
  );
  const { headers } = upstream;
  assert.deepEqual(headers['x-new'], ['replaced']);
  assert.deepEqual(headers['x-added'], ['yes', 'more']);
  assert.deepEqual(headers['x-appended'], ['1', '2']);
  assert.deepEqual(headers['x-gone'], ['again']);
  assert.deepEqual(headers['x-url'], ['http://a/b']);
  for (const name of ['x-old', 'x-never', 'x-absent']) assert.equal(headers[name], undefined, name);
});

test('renames all values of a header, changes Host only by replace, and keeps framing headers', async () => {
  const upstream = await send(
    {
      remove: { headers: ['Content-Length', 'Host'] },
      rename: { headers: ['X-Old:X-New'] },
      replace: { headers: ['Host:internal.example:8080', 'X-Forwarded-Proto:https'] },
      add: { headers: ['Host:never', 'Transfer-Encoding:chunked', 'X-Forwarded-Prefix:/p'] },
    },
    { method: 'POST', body: 'abc', headers: { 'x-old': ['a', 'b'] } },
  );
  assert.deepEqual(upstream.headers['x-new'], ['a', 'b']);
  assert.deepEqual(upstream.headers['host'], ['internal.example:8080']);
  assert.equal(upstream.header('transfer-encoding'), null);
  assert.equal(upstream.header('x-forwarded-proto'), 'https');
  assert.equal(upstream.header('x-forwarded-prefix'), '/p');
});

test('gives templates the original request, whatever other rules do', async () => {
  const upstream = await send(
    {
      remove: { headers: ['Authorization'], querystring: ['q'] },
      add: {
        headers: [
          'X-Token:$(headers.authorization:sub(8))',
          'X-Q:$(query_params.q)',
          "X-None:$(headers.none or 'none')",
        ],
        querystring: ['token:$(headers.authorization)'],
      },
    },
    { path: '/?q=1&r=2', headers: { authorization: 'Bearer abc' } },
  );
  assert.equal(upstream.header('x-token'), 'abc');
  assert.equal(upstream.header('x-q'), '1');
  assert.equal(upstream.header('x-none'), 'none');
  assert.equal(upstream.header('authorization'), null);
  assert.equal(upstream.query, 'r=2&token=Bearer%20abc');
});

test('keeps unnamed parts of the query byte for byte', async () => {
  const upstream = await send(
    {
      remove: { querystring: ['gone'] },
      rename: { querystring: ['old:new', 'absent:never'] },
      replace: { querystring: ['twice:once', 'absent:never'] },
      add: { querystring: ['kept:never', 'added:a b&c=d'] },
      append: { querystring: ['kept:more'] },
    },
    { path: '/?gone=1&k%65pt=%41+x&old=%7e&new=2&twice=1&twice=2&flag&g%6fne' },
  );
  assert.equal(upstream.query, 'k%65pt=%41+x&new=%7e&twice=once&flag&added=a%20b%26c%3Dd&kept=more');
});

test('sends non-ASCII text in UTF-8, latin1 or not', async () => {
  const config = { add: { headers: ['X-Fixed:é', 'X-Query:$(query_params.x)', 'X-Copy:$(headers.x_in)'] } };
  const bytes = (text: string) => Buffer.from(text).toString('latin1');
  const upstream = await send(config, { path: '/?x=%C3%A9', headers: { 'X-In': bytes('é→') } });
  assert.deepEqual(
    ['x-fixed', 'x-query', 'x-copy'].map((name) => upstream.header(name)),
    [bytes('é'), bytes('é'), bytes('é→')],
  );
});

test('changes JSON by names and paths, and keeps digits beyond doubles', async () => {
  const config = {
    remove: { body: ['secret', 'items[*].internal'] },
    rename: { body: ['user.mail:email'] },
    replace: { body: ['version:2', 'absent:never'] },
    add: { body: ["caller:$(consumer.username or 'nobody')", 'meta.source:gateway', "['dot.ted']:x"] },
    append: { body: ['tags:new', 'list:first'] },
  };
  const body =
    '{"secret":1,"id":12345678901234567890,"version":1,"tags":["a"],"user":{"mail":"m"},' +
    '"items":[{"n":1,"internal":2},{"n":3}],"__proto__":{"x":1}}';
  const upstream = await send(config, { method: 'POST', headers: jsonHeaders, body });
  assert.equal(
    upstream.body,
    '{"id":12345678901234567890,"version":"2","tags":["a","new"],"user":{"email":"m"},"items":[{"n":1},{"n":3}],' +
      '"__proto__":{"x":1},"caller":"nobody","meta":{"source":"gateway"},"dot.ted":"x","list":["first"]}',
  );
});

test('handles an empty JSON body, another JSON type, and a body without changes', async () => {
  const add = { add: { body: ['a:1'] } };
  assert.equal((await send(add, { method: 'POST', headers: jsonHeaders })).body, '{"a":"1"}');
  const patch = { 'Content-Type': 'application/merge-patch+json; charset=utf-8' };
  assert.equal((await send(add, { method: 'PATCH', headers: patch, body: '{}' })).body, '{"a":"1"}');
  const same = '{ "a" : 1.0 }';
  assert.equal((await send(add, { method: 'POST', headers: jsonHeaders, body: same })).body, same);
});

test('refuses JSON that is malformed, too deep or not UTF-8, with the place', async () => {
  const plugin = testPlugin(requestTransformer, { config: { remove: { body: ['a'] } } });
  const post = (body: string | Uint8Array) =>
    plugin.request({ method: 'POST', headers: { ...jsonHeaders, accept: 'application/json' }, body });
  const malformed = (await post('{"a":1,\n"b":secret}')).response;
  assert.equal(malformed.status, 400);
  assert.match(malformed.body, /line 2, column 5/);
  assert.doesNotMatch(malformed.body, /secret/);
  assert.equal((await post('['.repeat(100_000))).response.status, 400);
  assert.equal((await post(Buffer.from([0x22, 0xff, 0x22]))).response.status, 400);
});

test('does not read a body that is neither JSON nor a form', async () => {
  const config = { add: { body: ['a:1'] }, remove: { body: ['b'] } };
  for (const type of ['text/plain', 'application/xml', 'application/jsonp', '']) {
    const upstream = await send(config, { method: 'POST', headers: { 'Content-Type': type }, body: '{"b":' });
    assert.equal(upstream.body === null || upstream.body === '{"b":', true, type);
  }
});

test('treats names with form syntax as plain names in JSON', async () => {
  const config = { remove: { body: ['tags[]', 'user[name]'] }, add: { body: ['list[]:1'] } };
  const form = { method: 'POST', headers: formHeaders, body: 'tags%5B%5D=1&user[name]=2&k=3' };
  assert.equal((await send(config, form)).body, 'k=3&list%5B%5D=1');
  const body = '{"tags[]":1,"tags":[2],"user":{"name":3}}';
  const upstream = await send(config, { method: 'POST', headers: jsonHeaders, body });
  assert.equal(upstream.body, '{"tags":[2],"user":{"name":3},"list[]":"1"}');
});

test('handles a form with many fields or a very long name in bounded time', async () => {
  const config = { remove: { body: ['gone'] }, rename: { body: ['a:b'] }, replace: { body: ['b:1'] } };
  const many = { method: 'POST', headers: formHeaders, body: Array.from({ length: 9999 }, () => 'a=1').join('&') };
  assert.equal((await send(config, many)).body, 'b=1');
  const body = `${'%41'.repeat(1_000_000)}=1&gone=1`;
  const begin = cpuTime();
  assert.equal((await send(config, { method: 'POST', headers: formHeaders, body })).body?.length, 3_000_002);
  assert.ok(cpuTime() - begin < 1000);
  assert.equal(await status(config, { method: 'POST', headers: formHeaders, body: '&'.repeat(10_000) }), 413);
});

test('changes an urlencoded form', async () => {
  const config = {
    remove: { body: ['gone'] },
    rename: { body: ['old:new'] },
    replace: { body: ['r:é'] },
    add: { body: ['a:$(query_params.inject)'] },
    append: { body: ['r:2'] },
  };
  const request = {
    method: 'POST',
    path: '/?inject=x%26admin%3D1',
    headers: formHeaders,
    body: 'gone=1&old=%41&r=1&k=+',
  };
  assert.equal((await send(config, request)).body, 'new=%41&r=%C3%A9&k=+&a=x%26admin%3D1&r=2');
});

test('moves a form to the query when the new method has no body', async () => {
  for (const method of ['GET', 'HEAD', 'DELETE']) {
    const upstream = await send(
      { http_method: method, add: { body: ['b:2'] } },
      { method: 'POST', path: '/?q=1', headers: formHeaders, body: 'a=1' },
    );
    assert.deepEqual([upstream.method, upstream.query, upstream.body], [method, 'q=1&a=1&b=2', '']);
    assert.equal(upstream.header('content-type'), null);
  }
  const put = await send({ http_method: 'PUT' }, { method: 'POST', headers: formHeaders, body: 'a=1' });
  assert.deepEqual([put.method, put.query], ['PUT', null]);
  const large = { method: 'POST', headers: formHeaders, body: `a=${'x'.repeat(20_000)}` };
  assert.equal(await status({ http_method: 'GET' }, large), 413);
});

const parts = (...list: readonly string[]) => `${list.map((part) => `--B\r\n${part}\r\n`).join('')}--B--\r\n`;
const field = (name: string, value: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
const multipartHeaders = { 'Content-Type': 'multipart/form-data; boundary=B' };

test('keeps bytes and headers of files in a multipart form', async () => {
  const file = (name: string) =>
    `Content-Disposition: form-data; name="${name}"; filename="a; name=x.png"\r\nContent-Type: image/png\r\n\r\n\x89\r\n--b`;
  const config = {
    remove: { body: ['gone'] },
    rename: { body: ['file:upload', 'old:new'] },
    replace: { body: ['r:2'] },
    add: { body: ['r:never', 'a:1'] },
    append: { body: ['r:3'] },
  };
  const body = parts(field('gone', '1'), file('file'), field('old', 'v'), field('r', '0'), field('r', '1'));
  const upstream = await send(config, { method: 'POST', headers: multipartHeaders, body });
  assert.equal(
    upstream.body,
    parts(file('upload'), field('new', 'v'), field('r', '2'), field('a', '1'), field('r', '3')),
  );
});

test('refuses malformed multipart forms and values that would end a part', async () => {
  const config = { add: { body: ['a:$(query_params.x)'] } };
  const evil = encodeURIComponent(`1\r\n--B\r\n${field('admin', '1')}`);
  const body = parts(field('k', '1'));
  assert.equal(await status(config, { method: 'POST', path: `/?x=${evil}`, headers: multipartHeaders, body }), 400);
  assert.equal(await status(config, { method: 'POST', headers: multipartHeaders, body: '--B\r\nnothing' }), 400);
});

test('keeps template values within their path segment', async () => {
  const config = { replace: { uri: '/users/$(query_params.id)/files' } };
  const path = async (id: string) => (await send(config, { path: `/?id=${encodeURIComponent(id)}` })).path;
  assert.equal(await path('a b'), '/users/a%20b/files');
  assert.equal(await path('é/admin?x=1#f'), '/users/%C3%A9%2Fadmin%3Fx%3D1%23f/files');
});

test('refuses values with dot segments, control characters and line breaks', async () => {
  const uri = { replace: { uri: '/users/$(query_params.id)' } };
  const loose = { replace: { uri: '/users/$(path(query_params.id))' } };
  for (const id of ['..', '.', '../admin', '..\\admin', 'x\0', '..;/admin']) {
    const request = { path: `/?id=${encodeURIComponent(id)}` };
    assert.equal(await status(loose, request), 400, id);
    assert.equal(await status(uri, request), 400, id);
  }
  const header = { add: { headers: ['X-A:$(query_params.x)'] } };
  for (const x of ['a%0d%0aX-Admin:%201', 'a%0ab', 'a%00', 'a%0d']) {
    assert.equal(await status(header, { path: `/?x=${x}` }), 400, x);
  }
  const host = { replace: { headers: ['Host:$(query_params.x)'] } };
  for (const x of ['a@b', 'a/b', 'a%20b', 'a,b']) assert.equal(await status(host, { path: `/?x=${x}` }), 400, x);
  const query = await send({ add: { querystring: ['a:$(query_params.x)'] } }, { path: '/?x=1%26admin%3D1%23%0d%0a' });
  assert.equal(query.query, 'x=1%26admin%3D1%23%0d%0a&a=1%26admin%3D1%23%0D%0A');
});

test('answers 500 when a template fails at run time', async () => {
  const config = { add: { headers: ['X-A:$(query_params.x > 3)'] } };
  assert.equal(await status(config, { path: '/?x=1' }), 500);
});

test('does not read bodies without rules for them', () => {
  const needs = (config: Config) => requestTransformer.needs({ ...empty, ...config });
  const empty = Object.fromEntries(
    ['remove', 'rename', 'replace', 'add', 'append'].map((name) => [name, { body: [], headers: [], querystring: [] }]),
  );
  assert.deepEqual(needs({ http_method: 'POST' }), {});
  assert.deepEqual(needs({ http_method: 'GET', max_body_size: 5 }), { requestBody: { maxBytes: 5 } });
  const add = { body: ['a:1'], headers: [], querystring: [] };
  assert.deepEqual(needs({ add, max_body_size: 5 }), { requestBody: { maxBytes: 5 } });
});
