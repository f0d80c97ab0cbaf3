import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type TestBackend, type TestRequest, testPlugin } from '../../plugin-testing/index.ts';
import responseTransformer from './index.ts';

type Config = Readonly<Record<string, unknown>>;

async function send(config: Config, backend: TestBackend, request: TestRequest = {}) {
  const { response } = await testPlugin(responseTransformer, { config }).request({ ...request, backend });
  return response;
}

async function problem(config: Config): Promise<string> {
  const result = await testPlugin(responseTransformer).check(config);
  return result.ok ? 'accepted' : result.message;
}

const json = { 'Content-Type': 'application/json' };

test('has every record with empty lists by default', async () => {
  const values = { json: [], json_types: [], headers: [] };
  assert.deepEqual(await testPlugin(responseTransformer).check({}), {
    ok: true,
    config: {
      remove: { json: [], headers: [] },
      rename: { json: [], headers: [] },
      replace: values,
      add: values,
      append: values,
      if_status: [],
      max_body_size: 8_388_608,
    },
  });
});

test('refuses rules that cannot work', async () => {
  const cases: readonly (readonly [Config, RegExp])[] = [
    [{ add: { headers: ['X-A'] } }, /key 'X-A' has no value/],
    [{ rename: { headers: ['X-A:X B'] } }, /'X B' is not a valid header/],
    [{ add: { json: ['a'] } }, /key 'a' has no value/],
    [{ add: { json: ['a[:1'] } }, /is not a path/],
    [{ add: { json: ['a:$(x)'] } }, /not in supported format, error:there is no 'x'/],
    [{ add: { json: ['a:1'], json_types: ['float'] } }, /expected one of: boolean, number, string/],
    [{ add: { json: ['a:yes', 'b:1'], json_types: ['boolean'] } }, /the value for 'a' is not a boolean/],
    [{ if_status: ['20'] }, /invalid value: 20/],
    [{ if_status: ['299-200'] }, /a range must begin with the lower status/],
  ];
  for (const [config, reason] of cases) assert.match(await problem(config), reason);
  assert.equal(await problem({ add: { json: ['a:$(response.status)'], json_types: ['number'] } }), 'accepted');
});

test('changes headers by remove, rename, replace, add, append, in this order', async () => {
  const { headers } = await send(
    {
      remove: { headers: ['X-Gone', 'Content-Length'] },
      rename: { headers: ['X-Old:X-New'] },
      replace: { headers: ['X-New:replaced', 'X-Absent:never'] },
      add: { headers: ['X-New:never', 'X-Status: $(response.status)', "X-Type:$(response_headers['content-type'])"] },
      append: { headers: ['Set-Cookie:a=1'] },
    },
    { headers: { ...json, 'x-gone': '1', 'X-Old': ['a', 'b'], 'Set-Cookie': 'b=2' }, body: '{}' },
  );
  assert.deepEqual(headers['x-new'], ['replaced']);
  assert.deepEqual(headers['x-status'], ['200']);
  assert.deepEqual(headers['x-type'], ['application/json']);
  assert.deepEqual(headers['set-cookie'], ['b=2', 'a=1']);
  for (const name of ['x-gone', 'x-old', 'x-absent']) assert.equal(headers[name], undefined, name);
});

test('never sets a header to a value with a line break', async () => {
  const config = { add: { headers: ['X-A:$(query_params.x)'] }, append: { headers: ['X-B:$(query_params.x)'] } };
  const { status, headers } = await send(config, {}, { path: '/?x=1%0d%0aSet-Cookie:%20evil=1' });
  assert.equal(status, 200);
  for (const name of ['x-a', 'x-b', 'set-cookie']) assert.equal(headers[name], undefined, name);
});

test('changes JSON by names and paths, and keeps types and digits', async () => {
  const { body } = await send(
    {
      remove: { json: ['secret', 'items[*].cost'] },
      rename: { json: ['user.mail:email'] },
      replace: { json: ['version:2'], json_types: ['number'] },
      add: {
        json: ['ok:true', 'big:9007199254740993', 'meta.request:$(request.method)', 'status:$(response.status)'],
        json_types: ['boolean', 'number', 'string', 'number'],
      },
      append: { json: ['tags:new', 'counts:3'], json_types: ['string', 'number'] },
    },
    {
      headers: { 'Content-Type': 'application/problem+json; charset=utf-8' },
      body: '{"secret":1,"id":12345678901234567890,"version":1,"tags":["a"],"user":{"mail":"m"},"items":[{"n":1,"cost":2}]}',
    },
  );
  assert.equal(
    body,
    '{"id":12345678901234567890,"version":2,"tags":["a","new"],"user":{"email":"m"},"items":[{"n":1}],' +
      '"ok":true,"big":9007199254740993,"meta":{"request":"GET"},"status":200,"counts":[3]}',
  );
});

test('changes a top-level array by paths, not by names', async () => {
  const backend = { headers: json, body: '[{"a":1}]' };
  assert.equal((await send({ add: { json: ['b:1'] } }, backend)).body, '[{"a":1}]');
  assert.equal((await send({ add: { json: ['[*].b:1'] } }, backend)).body, '[{"a":1,"b":"1"}]');
});

test('removes validators and digests of the original body', async () => {
  const headers = { ...json, ETag: '"v1"', 'Content-MD5': 'x', 'Accept-Ranges': 'bytes' };
  const changed = await send({ remove: { json: ['a'] } }, { headers, body: '{"a":1}' });
  assert.deepEqual([changed.header('etag'), changed.header('content-md5')], ['W/"v1"', null]);
  const same = await send({ remove: { json: ['a'] } }, { headers, body: '{ "b": 1 }' });
  assert.deepEqual([same.header('etag'), same.header('content-md5'), same.body], ['"v1"', 'x', '{ "b": 1 }']);
});

test('streams answers that are not JSON', async () => {
  const config = { remove: { json: ['a'] } };
  for (const type of ['text/html', 'application/octet-stream', 'application/jsonp']) {
    assert.equal((await send(config, { headers: { 'Content-Type': type }, body: '{"a":' })).body, '{"a":', type);
  }
  assert.equal((await send(config, { body: '{"a":1}' })).body, '{"a":1}');
});

test('never forwards unreadable JSON unchanged', async () => {
  const config = { remove: { json: ['secret'] }, max_body_size: 200_000 };
  const cases: readonly (readonly [TestBackend, RegExp])[] = [
    [{ headers: json, body: '{"secret":1,\n"b" oops}' }, /line 2, column \d/],
    [{ headers: json, body: '['.repeat(100_000) }, /nested deeper/],
    [{ headers: json, body: [Buffer.from([0x22, 0xe9, 0x22])] }, /UTF-8/],
    [{ headers: { ...json, 'Content-Encoding': 'rot13' }, body: '{"secret":1}' }, /content coding/],
    [{ status: 206, headers: { ...json, 'Content-Range': 'bytes 0-3/9' }, body: '{"se' }, /part of a JSON/],
    [{ status: 206, headers: { 'Content-Type': 'multipart/byteranges; boundary=x' }, body: '--x' }, /part of a JSON/],
  ];
  for (const [backend, reason] of cases) {
    const { request, logLines } = testPlugin(responseTransformer, { config });
    const { status, body } = (await request({ headers: { accept: 'application/json' }, backend })).response;
    assert.equal(status, 502);
    assert.match(body, reason);
    assert.doesNotMatch(body, /oops|secret/);
    // It is logged for the operator.
    assert.match(JSON.stringify(logLines), reason);
    assert.doesNotMatch(JSON.stringify(logLines), /oops|secret/);
  }
});

test('requests no multiple ranges, but one range, because content that is not JSON may be partial', async () => {
  const plugin = testPlugin(responseTransformer, { config: { remove: { json: ['a'] } } });
  const several = await plugin.request({ headers: { range: 'bytes=0-1,2-' } });
  assert.equal(several.upstream?.header('range'), null);
  const one = await plugin.request({ headers: { range: 'bytes=5-' } });
  assert.equal(one.upstream?.header('range'), 'bytes=5-');
});

test('changes only answers with a status in if_status', async () => {
  const config = { if_status: ['200-299', '404'], add: { headers: ['X-A:1'], json: ['a:1'] } };
  for (const [status, changed] of [
    [200, true],
    [299, true],
    [404, true],
    [403, false],
    [500, false],
  ] as const) {
    const response = await send(config, { status, headers: json, body: '{}' });
    assert.deepEqual([response.header('x-a'), response.body], changed ? ['1', '{"a":"1"}'] : [null, '{}'], `${status}`);
  }
});

test('buffers nothing without rules for bodies', async () => {
  const plain = await testPlugin(responseTransformer).check({ add: { headers: ['X-A:1'] } });
  assert.deepEqual(plain.ok && responseTransformer.needs(plain.config), {});
  const body = await testPlugin(responseTransformer).check({ add: { json: ['a:1'] }, max_body_size: 7 });
  const expected = { responseBody: { mode: 'buffer', maxBytes: 7 } };
  assert.deepEqual(body.ok && responseTransformer.needs(body.config), expected);
});

test('answers 500 when a template fails on a body, and skips it in a header', async () => {
  const backend = { headers: json, body: '{}' };
  const request = { path: '/?x=many' };
  const number = { add: { json: ['a:$(query_params.x)'], json_types: ['number'] } };
  assert.equal((await send(number, backend, request)).status, 500);
  const header = await send({ add: { headers: ['X-A:$(query_params.x > 1)'] } }, backend, request);
  assert.deepEqual([header.status, header.header('x-a')], [200, null]);
});
