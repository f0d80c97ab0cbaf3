import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import requestValidator from './index.ts';

const json = { 'Content-Type': 'application/json' };
const text = (value: unknown) => JSON.stringify(value);

function plugin(config: Readonly<Record<string, unknown>>) {
  return testPlugin(requestValidator, { config });
}

async function post(
  config: Readonly<Record<string, unknown>>,
  body: string,
  headers: Readonly<Record<string, string>> = json,
) {
  const { response } = await plugin(config).request({ method: 'POST', headers, body });
  return [response.status, response.status === 200 ? '' : JSON.parse(response.body).message];
}

const right = [200, ''];
const wrong = [400, "request body doesn't conform to schema"];
const wrongType = [415, 'specified Content-Type is not allowed'];

describe('configuration', () => {
  test('requires a schema for body or parameters', async () => {
    const result = await plugin({}).check({});
    assert.match(
      result.ok ? '' : result.message,
      /at least one of these fields must be non-empty: 'config.body_schema'/,
    );
  });

  const cases: readonly (readonly [Readonly<Record<string, unknown>>, RegExp])[] = [
    [{ body_schema: '{' }, /config\.body_schema: is not a usable schema: it is not valid JSON/],
    [{ body_schema: '{}' }, /must be a list of fields/],
    [{ body_schema: text([{ a: { type: 'text' } }]) }, /\/0\/a\/type: must be one of string/],
    [{ body_schema: text([{ a: { type: 'string', match: '^%d+$' } }]) }, /\/0\/a\/match: Lua patterns are not known/],
    [{ body_schema: text([{ a: { type: 'string', lenmin: 1 } }]) }, /\/0\/a\/lenmin: there is no such attribute/],
    [{ body_schema: text([{ a: { type: 'array', elements: 3 } }]) }, /\/0\/a\/elements/],
    [{ body_schema: text([{ a: { type: 'string' } }, { a: { type: 'string' } }]) }, /two fields of this name/],
    [{ body_schema: text({ tpye: 'a' }), version: 'draft7' }, /\/tpye: there is no such keyword/],
    [
      { parameter_schema: [{ in: 'query', name: 'a', schema: '{"a":1}' }] },
      /parameter_schema[\s\S]*\/a: there is no such keyword/,
    ],
    [
      { parameter_schema: [{ in: 'header', name: 'a', style: 'form', schema: '{}' }] },
      /style.*a header is not written so/,
    ],
    [{ body_schema: '{}', version: 'draft3' }, /version/],
  ];
  for (const [config, message] of cases) {
    test(`refuses ${Object.values(config).map(text).join(' ')}`, async () => {
      const result = await plugin(config).check(config);
      assert.match(result.ok ? 'accepted' : result.message, message);
    });
  }
});

describe('bodies', () => {
  const item = { type: 'object', required: ['item'], properties: { item: { type: 'string' } } };

  test('are checked with each version of JSON Schema', async () => {
    for (const version of ['draft4', 'draft6', 'draft7', 'draft201909', 'draft202012']) {
      const config = { body_schema: text(item), version };
      assert.deepEqual(await post(config, '{"item":"tea"}'), right, version);
      assert.deepEqual(await post(config, '{"item":1}'), wrong, version);
    }
  });

  const fields = [
    { name: { type: 'string', required: true, len_max: 5, not_one_of: ['root'] } },
    { count: { type: 'integer', between: [1, 10] } },
    { ratio: { type: 'number', gt: 0 } },
    { id: { type: 'string', uuid: true } },
    { kind: { type: 'string', one_of: ['a', 'b'] } },
    { path: { type: 'string', starts_with: '/', len_min: 0 } },
    { tags: { type: 'set', elements: { type: 'string' }, len_min: 1 } },
    { prices: { type: 'map', keys: { type: 'string', len_eq: 3 }, values: { type: 'number' } } },
    { nested: { type: 'record', fields: [{ on: { type: 'boolean', required: true } }] } },
  ];
  const rightOnes = [
    {},
    { count: 1 },
    { count: null },
    { ratio: 0.1 },
    { id: '7f6b8c1e-0000-4000-8000-000000000001' },
    { kind: 'b' },
    { path: '/x' },
    { tags: ['a'] },
    { prices: { eur: 1.5 } },
    { nested: { on: false } },
  ];
  const wrongOnes = [
    { name: null },
    { name: '' },
    { name: 'longer' },
    { name: 'root' },
    { name: 1 },
    { count: 0 },
    { count: 1.5 },
    { ratio: 0 },
    { id: 'x' },
    { kind: 'c' },
    { path: 'x' },
    { tags: [] },
    { tags: [''] },
    { tags: 'a' },
    { prices: { euro: 1 } },
    { prices: { eur: '1' } },
    { nested: {} },
    { nested: { on: true, off: true } },
    { more: 1 },
  ];
  test("are checked with Kong's own format", async () => {
    const config = { body_schema: text(fields) };
    for (const one of rightOnes) assert.deepEqual(await post(config, text({ name: 'ada', ...one })), right, text(one));
    for (const one of wrongOnes) assert.deepEqual(await post(config, text({ name: 'ada', ...one })), wrong, text(one));
    assert.deepEqual(await post(config, '[]'), wrong);
  });

  test('must have an allowed content type', async () => {
    const config = { body_schema: text(item), version: 'draft7' };
    const typed = (type: string, more: Readonly<Record<string, unknown>> = {}) =>
      post({ ...config, ...more }, '{"item":"tea"}', { 'Content-Type': type });
    assert.deepEqual(await typed('application/json; charset=utf-8'), right);
    assert.deepEqual(await typed('application/json; charset=utf-16'), wrongType);
    assert.deepEqual(await typed('text/plain'), wrongType);
    const allowed = { allowed_content_types: ['application/json; charset=utf-8', 'text/*'] };
    assert.deepEqual(await typed('application/json', allowed), wrongType);
    assert.deepEqual(await typed('application/json;charset="UTF-8"', allowed), right);
    assert.deepEqual(await typed('application/json', { ...allowed, content_type_parameter_validation: false }), right);
    assert.deepEqual(await post({ ...config, ...allowed }, 'anything', { 'Content-Type': 'text/plain' }), right);
    assert.deepEqual(await post(config, '{"item":"tea"}', {}), wrongType);
  });

  test('must exist, be JSON, and read the same in all parsers', async () => {
    const config = { body_schema: text(item), version: 'draft7' };
    assert.deepEqual(await post(config, ''), wrong);
    assert.match(String((await post(config, '{"item":\n}'))[1]), /line 2, column 1/);
    assert.match(String((await post(config, '{"item":"a","item":1}'))[1]), /a name occurs twice/);
    assert.equal((await post(config, '['.repeat(100_000)))[0], 400);
    assert.equal((await plugin(config).request({ method: 'GET' })).response.status, 200);
    assert.equal(
      (await plugin({ ...config, max_body_size: 5 }).request({ method: 'POST', headers: json, body: '{"item":"tea"}' }))
        .response.status,
      413,
    );
  });

  test('get details without values if verbose', async () => {
    const config = { body_schema: text(fields), verbose_response: true };
    const { response } = await plugin(config).request({
      method: 'POST',
      headers: json,
      body: '{"name":"hidden text"}',
    });
    const { message, errors } = JSON.parse(response.body);
    assert.equal(message, wrong[1]);
    assert.deepEqual([errors[0].pointer, errors[0].rule], ['/name', 'maxLength']);
    assert.doesNotMatch(response.body, /hidden/);
  });
});

describe('parameters', () => {
  const config = {
    parameter_schema: [
      { in: 'query', name: 'limit', required: true, schema: text({ type: 'integer', maximum: 100 }) },
      {
        in: 'query',
        name: 'ids',
        explode: false,
        style: 'form',
        schema: text({ type: 'array', items: { type: 'integer' } }),
      },
      { in: 'header', name: 'X-Kind', schema: text({ enum: ['a', 'b'] }) },
    ],
  };
  const ask = async (path: string, headers: Readonly<Record<string, string>> = {}) => {
    const { response } = await plugin(config).request({ path, headers });
    return response.status === 200 ? 200 : [response.status, JSON.parse(response.body).message];
  };
  const refused = [400, "request param doesn't conform to schema"];

  test('are checked by place, style and schema', async () => {
    assert.equal(await ask('/?limit=10&ids=1,2&other=1', { 'X-Kind': 'b' }), 200);
    for (const query of ['', 'limit=', 'limit=101', 'limit=a', 'limit=1&limit=1', 'limit=1&ids=1,b']) {
      assert.deepEqual(await ask(`/?${query}`), refused, query);
    }
    assert.deepEqual(await ask('/?limit=1', { 'X-Kind': 'c' }), refused);
  });

  test('do not restrict bodies without a body schema', async () => {
    const request = { method: 'POST', path: '/?limit=1', headers: { 'Content-Type': 'text/plain' }, body: 'x' };
    assert.equal((await plugin(config).request(request)).response.status, 200);
  });
});
