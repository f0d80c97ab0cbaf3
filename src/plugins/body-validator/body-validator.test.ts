import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import bodyValidator from './index.ts';

const order = {
  type: 'object',
  required: ['item'],
  additionalProperties: false,
  properties: {
    item: { type: 'string', minLength: 1 },
    count: { type: 'integer', minimum: 1 },
    code: { const: 'SECRET' },
  },
};
const json = { 'Content-Type': 'application/json' };

function plugin(schema: unknown, more: Readonly<Record<string, unknown>> = {}) {
  return testPlugin(bodyValidator, { config: { schema: JSON.stringify(schema), ...more } });
}

async function ask(
  schema: unknown,
  body: string | Uint8Array,
  more?: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>> = json,
) {
  return plugin(schema, more).request({ method: 'POST', headers, body });
}

describe('configuration', () => {
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ['a slip', { properties: { a: { tpye: 'string' } } }, /schema.*\/properties\/a\/tpye: there is no such keyword/],
    ['a wrong value', { properties: { a: { type: 'strin' } } }, /\/properties\/a\/type/],
    ['a reference elsewhere', { $ref: 'https://example.com/schema.json' }, /can't resolve reference/],
    ['a reference to nothing', { $ref: '#/$defs/a' }, /can't resolve reference/],
    ['an unknown format', { format: 'phone' }, /\/format: there is no such format/],
    ['a look-ahead', { pattern: '^(?!a)' }, /\/pattern: the regular expression cannot be used: look-around/],
    ['a member __proto__', JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'), /__proto__/],
    ['an unknown draft', { $schema: 'http://example.com/' }, /\/\$schema: /],
    ['not a schema', [], /must be an object/],
    ['deep schemas', JSON.parse(`${'{"not":'.repeat(150)}{}${'}'.repeat(150)}`), /nested deeper/],
  ];
  for (const [what, schema, message] of cases) {
    test(`refuses ${what} and names the place`, async () => {
      const result = await plugin(schema).check({ schema: JSON.stringify(schema) });
      assert.equal(result.ok, false);
      assert.match(result.ok ? '' : result.message, message);
    });
  }

  test('refuses a schema that is not JSON, or missing', async () => {
    const tester = testPlugin(bodyValidator);
    const broken = await tester.check({ schema: '{"a": ' });
    assert.match(broken.ok ? '' : broken.message, /line 1, column 7/);
    assert.equal((await tester.check({})).ok, false);
    assert.equal((await tester.check({ response_schema: '{}' })).ok, true);
  });

  test('accepts each draft', async () => {
    const number = { 'draft-04': { minimum: 1, exclusiveMinimum: true }, 'draft-07': { exclusiveMinimum: 1 } };
    for (const [version, schema] of Object.entries(number)) {
      assert.equal((await ask(schema, '1', { version })).response.status, 400, version);
      assert.equal((await ask(schema, '2', { version })).response.status, 200, version);
    }
    const tuple = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      prefixItems: [{ type: 'string' }],
      items: false,
    };
    assert.equal((await ask(tuple, '["a"]', { version: 'draft-07' })).response.status, 200);
    assert.equal((await ask(tuple, '["a",1]', { version: 'draft-07' })).response.status, 400);
    assert.equal(
      (await ask({ dependentRequired: { a: ['b'] } }, '{"a":1}', { version: '2019-09' })).response.status,
      400,
    );
  });
});

describe('requests', () => {
  test('with a valid body are forwarded unchanged', async () => {
    const body = '{ "item": "tea",\n "count": 12345678901234567890 }';
    const { response, upstream } = await ask(order, body);
    assert.equal(response.status, 200);
    assert.equal(upstream?.body, body);
  });

  test('with an invalid body are refused with places and rules, without values', async () => {
    const { response, upstream, requestId } = await ask(order, '{"item":"","count":0,"code":"hidden","more/x":1}');
    assert.equal(response.status, 400);
    assert.equal(upstream, null);
    const answer = JSON.parse(response.body);
    assert.equal(answer.request_id, requestId);
    assert.deepEqual(
      answer.errors.map(({ pointer, rule }: { pointer: string; rule: string }) => [pointer, rule]).sort(),
      [
        ['/code', 'const'],
        ['/count', 'minimum'],
        ['/item', 'minLength'],
        ['/more~1x', 'additionalProperties'],
      ],
    );
    assert.doesNotMatch(response.body, /hidden|SECRET/);
  });

  test('get a bounded number of violations, or none if configured', async () => {
    const numbers = { items: { type: 'string' } };
    const few = await ask(numbers, `[${'1,'.repeat(100)}1]`, { max_errors: 3 });
    assert.equal(JSON.parse(few.response.body).errors.length, 3);
    const large = await ask(numbers, `[${'1,'.repeat(10_000)}1]`);
    assert.equal(JSON.parse(large.response.body).errors.length, 1);
    const quiet = await ask(numbers, '[1]', { verbose: false });
    assert.equal(JSON.parse(quiet.response.body).errors, undefined);
  });

  test('that parsers could read differently are refused with the place', async () => {
    const cases: readonly (readonly [string | Uint8Array, RegExp])[] = [
      ['{"item":"a","item":"b"}', /a name occurs twice.*line 1, column 13/],
      ['{"item":"a","\\u0069tem":"b"}', /a name occurs twice/],
      ['{"item":"a",\n"count":1e999}', /out of range/],
      ['{"item":"a","count":12345678901234567.5}', /more digits/],
      ['{"item":\n tea}', /line 2, column 2/],
      [`${'['.repeat(100_000)}${']'.repeat(100_000)}`, /nested deeper/],
      [Buffer.from([0x22, 0xff, 0x22]), /UTF-8/],
    ];
    for (const [body, message] of cases) {
      const { response } = await ask(order, body);
      assert.equal(response.status, 400);
      assert.match(response.body, message);
      assert.doesNotMatch(response.body, /tea/);
    }
  });

  test('can have members with names of the prototype', async () => {
    const answer = await ask(order, '{"item":"a","__proto__":{"count":1}}');
    assert.match(answer.response.body, /additionalProperties/);
    const wanted = await ask({ required: ['constructor', 'toString'] }, '{}');
    assert.equal(wanted.response.status, 400);
  });

  test('with other types, other charsets or no type are refused with 415', async () => {
    const types = ['text/plain', 'application/json; charset=utf-16', 'application/xml', 'json', ''];
    for (const type of types) {
      const { response } = await ask(order, '{"item":"a"}', {}, type === '' ? {} : { 'Content-Type': type });
      assert.equal(response.status, 415, type);
    }
    for (const type of ['application/json; charset=UTF-8', 'application/vnd.order+json']) {
      assert.equal((await ask(order, '{"item":"a"}', {}, { 'Content-Type': type })).response.status, 200, type);
    }
  });

  test('are decompressed before the check', async () => {
    const headers = { ...json, 'Content-Encoding': 'gzip' };
    const right = await ask(order, gzipSync('{"item":"a"}'), {}, headers);
    assert.equal(right.upstream?.body, '{"item":"a"}');
    assert.equal(right.upstream?.header('content-encoding'), null);
    assert.equal((await ask(order, gzipSync('{"item":1}'), {}, headers)).response.status, 400);
  });

  test('without a required body are refused; optional bodies are checked', async () => {
    const tester = plugin(order);
    assert.equal((await tester.request({ method: 'POST' })).response.status, 400);
    assert.equal((await tester.request({ method: 'GET' })).response.status, 200);
    assert.equal((await tester.request({ method: 'GET', headers: json, body: '{}' })).response.status, 400);
  });

  test('are forwarded, counted and logged in report mode', async () => {
    const tester = plugin(order, { mode: 'report' });
    const { response, record } = await tester.request({ method: 'POST', headers: json, body: '{"item":1}' });
    assert.equal(response.status, 200);
    assert.equal(record['body_validator'], 'type');
    await tester.request({ method: 'POST', headers: json, body: 'tea' });
    assert.equal(tester.counts.get('body-validator.wrong_requests'), 2);
    assert.equal(tester.logLines.length, 1);
    assert.doesNotMatch(JSON.stringify(tester.logLines), /tea/);
  });
});

describe('validation time', () => {
  async function within(milliseconds: number, schema: unknown, body: string): Promise<string> {
    const tester = plugin(schema);
    await tester.request({ method: 'POST', headers: json, body: '0' });
    const begun = cpuTime();
    const { response } = await tester.request({ method: 'POST', headers: json, body });
    assert.ok(cpuTime() - begun < milliseconds, `${cpuTime() - begun} ms`);
    return response.body;
  }

  test('is not exponential for a schema that branches into itself', async () => {
    const branch = { properties: { a: { $ref: '#/$defs/n' } } };
    const schema = {
      $ref: '#/$defs/n',
      $defs: { n: { type: 'object', oneOf: [branch, { ...branch, minProperties: 0 }] } },
    };
    const body = await within(2_000, schema, `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
    assert.match(body, /"rule":"steps"/);
  });

  test('is bounded for a schema that only refers to itself', async () => {
    assert.match(await within(2_000, { $ref: '#' }, '{}'), /"rule":"steps"/);
    assert.match(await within(2_000, { allOf: [{ $ref: '#' }, { $ref: '#' }] }, '{}'), /"rule":"steps"/);
  });

  test('is bounded for unique items of a long list', async () => {
    assert.match(await within(2_000, { uniqueItems: true }, `[${'{},'.repeat(80_000)}{}]`), /uniqueItems/);
    const different = `[${Array.from({ length: 20_000 }, (_, at) => `{"id":${at}}`).join()}]`;
    assert.equal(await within(2_000, { uniqueItems: true }, different), '');
    assert.equal(
      await within(2_000, { uniqueItems: true }, '[1,"1",[1],["1"],{"a":1},{"a":"1"},true,null,"null","[1]"]'),
      '',
    );
    assert.match(await within(2_000, { uniqueItems: true }, '[{"a":1,"b":2},{"b":2,"a":1}]'), /uniqueItems/);
  });

  test('is linear for patterns that backtrack in other engines', async () => {
    for (const pattern of ['^(a+)+$', '^(a|a)*$', '(x+x+)+y']) {
      await within(2_000, { pattern }, JSON.stringify(`${'a'.repeat(50_000)}!`));
    }
    await within(2_000, { format: 'email' }, JSON.stringify(`a@${'a-'.repeat(50_000)}`));
    await within(2_000, { format: 'url' }, JSON.stringify(`http://${'a-'.repeat(50_000)}!`));
  });
});

describe('answers', () => {
  const config = { response_schema: JSON.stringify(order) };
  const backend = (body: string, status = 200, headers: Readonly<Record<string, string>> = json) => ({
    status,
    headers,
    body,
  });

  test('are reported by default', async () => {
    const tester = testPlugin(bodyValidator, { config });
    assert.equal((await tester.request({ backend: backend('{"item":1}') })).response.body, '{"item":1}');
    assert.equal((await tester.request({ backend: backend('{"item":') })).response.status, 200);
    await tester.request({ backend: backend('{"item":"a"}') });
    await tester.request({ backend: backend('{}', 500) });
    await tester.request({ method: 'HEAD', backend: backend('', 200) });
    assert.equal(tester.counts.get('body-validator.wrong_answers'), 2);
    assert.equal(tester.logLines.length, 1);
    assert.deepEqual([tester.logLines[0]?.fields['rule'], tester.logLines[0]?.fields['pointer']], ['type', '/item']);
  });

  test('are enforced if configured', async () => {
    const tester = testPlugin(bodyValidator, { config: { ...config, response_mode: 'enforce', max_body_size: 100 } });
    const statuses = [];
    for (const answer of [
      backend('{"item":"a"}'),
      backend('{"item":1}'),
      backend('nothing'),
      backend('<a/>', 200, { 'Content-Type': 'application/xml' }),
      backend('{"item":"a"}', 206),
      backend('{"item":"a"}', 200, { ...json, 'Content-Encoding': 'strange' }),
      backend(`{"item":"${'a'.repeat(100)}"}`),
      backend('anything', 404),
      backend('', 204),
    ]) {
      const { response } = await tester.request({ headers: { Range: 'bytes=0-1' }, backend: answer });
      statuses.push(response.status);
      if (response.status === 502) assert.doesNotMatch(response.body, /"a"|nothing|<a/);
    }
    assert.deepEqual(statuses, [200, 502, 502, 502, 502, 502, 502, 404, 204]);
    const { upstream } = await tester.request({ headers: { Range: 'bytes=0-1' }, backend: backend('{"item":"a"}') });
    assert.equal(upstream?.header('range'), null);
  });
});
