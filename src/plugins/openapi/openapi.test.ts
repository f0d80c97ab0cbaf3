import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import openapi from './index.ts';

const shop = `
openapi: 3.0.3
info: { title: Shop, version: "1" }
servers: [{ url: "https://api.example.com/{base}", variables: { base: { default: v1 } } }]
paths:
  /orders:
    get:
      operationId: listOrders
      parameters:
        - { name: status, in: query, schema: { type: array, items: { enum: [open, paid] } }, explode: false, style: form }
        - { name: tag, in: query, schema: { type: array, items: { type: string }, maxItems: 2 } }
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 100 } }
        - { name: full, in: query, schema: { type: boolean } }
        - { name: filter, in: query, style: deepObject, schema: { type: object, additionalProperties: false, properties: { min: { type: number }, name: { type: string } } } }
        - { name: range, in: query, style: pipeDelimited, explode: false, schema: { type: array, items: { type: integer } } }
        - { name: where, in: query, content: { application/json: { schema: { type: object, required: [a] } } } }
        - { name: X-Trace, in: header, schema: { type: string, format: uuid } }
        - { name: X-Ids, in: header, schema: { type: array, items: { type: integer } } }
        - { name: theme, in: cookie, schema: { enum: [dark, light] } }
      responses:
        "200":
          description: orders
          headers: { X-Total: { schema: { type: integer, example: 7 } } }
          content: { application/json: { schema: { type: array, items: { $ref: "#/components/schemas/Order" } } } }
    post:
      requestBody: { $ref: "#/components/requestBodies/Order" }
      responses:
        "201":
          description: made
          content:
            application/json:
              schema: { $ref: "#/components/schemas/Order" }
              examples:
                small: { value: { id: 1, item: tea } }
                large: { value: { id: 2, item: sugar } }
        "4XX":
          description: refused
          content: { application/problem+json: { schema: { type: object, properties: { title: { type: string, example: no } } } } }
  /orders/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer } }]
    get: { operationId: getOrder, responses: { default: { description: any } } }
    delete: { responses: { "204": { description: gone } } }
  /orders/latest:
    get: { operationId: latestOrder, responses: { "200": { description: any } } }
  /files/{name}.{kind}:
    get:
      parameters:
        - { name: name, in: path, required: true, schema: { type: string } }
        - { name: kind, in: path, required: true, schema: { enum: [pdf, txt] } }
      responses: { "200": { description: any } }
  /forms:
    post:
      requestBody:
        content:
          application/x-www-form-urlencoded:
            schema: { type: object, required: [n], properties: { n: { type: integer }, t: { type: array, items: { type: string } } } }
          image/*: {}
      responses: { "200": { description: any } }
components:
  requestBodies:
    Order: { required: true, content: { application/json: { schema: { $ref: "#/components/schemas/Order" } } } }
  schemas:
    Order:
      type: object
      required: [id, item]
      additionalProperties: false
      properties:
        id: { type: integer, readOnly: true }
        item: { type: string, minLength: 1 }
        price: { type: number, minimum: 0, exclusiveMinimum: true, nullable: true }
        parent: { $ref: "#/components/schemas/Order" }
`;
const json = { 'Content-Type': 'application/json' };

function plugin(more: Readonly<Record<string, unknown>> = {}, document = shop) {
  return testPlugin(openapi, { config: { document, ...more } });
}

/** Status, and place and rule of each violation. */
async function ask(path: string, request: Parameters<ReturnType<typeof plugin>['request']>[0] = {}, more = {}) {
  const { response } = await plugin(more).request({ path, ...request });
  const { errors = [] } = response.status === 400 ? JSON.parse(response.body) : {};
  return [
    response.status,
    ...errors.map((one: Record<string, string>) => `${one['name'] ?? one['pointer']} ${one['rule']}`),
  ];
}

describe('documents', () => {
  const cases: readonly (readonly [string, string, RegExp])[] = [
    ['no paths', 'openapi: 3.0.0', /\/paths: there is no operation/],
    ['no operations', 'openapi: 3.1.0\npaths: {/a: {summary: x}}', /\/paths: there is no operation/],
    ['broken YAML', 'openapi: 3.0.0\npaths: [', /not valid YAML.*line 2/],
    ['broken JSON', '{"openapi": "3.0.0",}', /not valid JSON.*line 1, column 21/],
    ['a repeated key', 'openapi: 3.0.0\npaths: {}\npaths: {}', /line 3/],
    ['Swagger', '{"swagger": "2.0"}', /Swagger 2\.0/],
    ['another version', 'openapi: 4.0.0', /\/openapi: /],
    [
      'a slip in a schema',
      shop.replace('minLength', 'minLenght'),
      /\/components\/schemas\/Order\/properties\/item\/minLenght/,
    ],
    [
      'a wrong type',
      shop.replace('type: number, minimum', 'type: nummer, minimum'),
      /schemas\/Order\/properties\/price\/type/,
    ],
    [
      'a reference to nothing',
      shop.replace('#/components/requestBodies/Order', '#/components/requestBodies/X'),
      /requestBody\/\$ref.*leads to nothing/,
    ],
    [
      'a reference elsewhere',
      shop.replace('#/components/requestBodies/Order', 'other.yaml#/x'),
      /only references within/,
    ],
    [
      'a circle',
      `${shop}    A: { $ref: "#/components/schemas/A" }\n`
        .replace('schemas/Order" } } } } }', 'schemas/A" } } } } }')
        .replace(
          'parent: { $ref: "#/components/schemas/Order" }',
          'parent: { allOf: [{ $ref: "#/components/schemas/Gone" }] }',
        ),
      /leads to nothing/,
    ],
    [
      'an undeclared path parameter',
      shop.replace('[{ name: id, in: path', '[{ name: di, in: path'),
      /orders~1\{id\}\/get: the parameter id/,
    ],
    ['an unknown method', shop.replace('    delete:', '    remove:'), /orders~1\{id\}\/remove/],
    [
      'paths that are alike',
      shop.replace(
        '  /forms:',
        '  /orders/{number}:\n    get: { parameters: [{ name: number, in: path, required: true, schema: {} }], responses: {} }\n  /forms:',
      ),
      /cannot be distinguished from/,
    ],
    ['a style of another place', shop.replace('style: pipeDelimited', 'style: matrix'), /parameters\/5\/style/],
    ['a pattern with look-ahead', shop.replace('minLength: 1', 'pattern: "(?!a)"'), /item\/pattern/],
  ];
  for (const [what, document, message] of cases) {
    test(`refuses ${what} and names the place`, async () => {
      const result = await testPlugin(openapi).check({ document });
      assert.match(result.ok ? 'accepted' : result.message, message);
    });
  }

  test('refuses an alias bomb', async () => {
    let text = 'openapi: 3.0.0\nx-0: &a0 [1,1,1,1,1,1,1,1,1,1]\n';
    for (let at = 1; at < 10; at++)
      text += `x-${at}: &a${at} [${Array(10)
        .fill(`*a${at - 1}`)
        .join()}]\n`;
    const result = await testPlugin(openapi).check({ document: text });
    assert.equal(result.ok, false);
  });

  test('requires document or file', async () => {
    assert.equal((await testPlugin(openapi).check({})).ok, false);
    assert.equal((await testPlugin(openapi).check({ document: shop, file: '/x' })).ok, false);
  });

  const folder = mkdtempSync(join(tmpdir(), 'openapi-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  test('reads a file, and distinguishes errors of the file from errors of its content', async () => {
    const path = join(folder, 'shop.yaml');
    writeFileSync(path, shop);
    const tester = testPlugin(openapi, { config: { file: path } });
    assert.equal((await tester.request({ path: '/v1/orders/latest' })).response.status, 200);
    writeFileSync(join(folder, 'secret'), 'root:x:0:0\n hidden: [');
    const result = await tester.check({ file: join(folder, 'secret') });
    assert.doesNotMatch(result.ok ? 'accepted' : result.message, /accepted|root|hidden/);
    assert.match(JSON.stringify(await tester.check({ file: join(folder, 'none') })), /ENOENT/);
  });
});

test('reads a form with many recursive members in bounded time', async () => {
  const members = Array.from(
    { length: 60 },
    (_, at) => `m${at}: { anyOf: [{ $ref: "#/components/schemas/N" }, { type: integer }] }`,
  );
  const own = `${shop}    N: { anyOf: [{ $ref: "#/components/schemas/N" }, { type: object, properties: { ${members.join()} } }] }\n`;
  const document = own.replace(
    'schema: { type: object, required: [n],',
    'schema: { allOf: [{ $ref: "#/components/schemas/N" }], required: [n],',
  );
  const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
  const begun = cpuTime();
  const { response } = await plugin({}, document).request({
    path: '/v1/forms',
    method: 'POST',
    headers,
    body: 'n=1&m1=2',
  });
  assert.ok(cpuTime() - begun < 1_000, `${cpuTime() - begun} ms`);
  assert.equal(response.status, 400);
});

test('parses a large YAML document in another thread', async () => {
  const large = `${shop}# ${'x'.repeat(20_000)}\n`;
  const tester = plugin({}, large);
  const answers = await Promise.all([1, 2].map(() => tester.request({ path: '/v1/orders?limit=0' })));
  assert.deepEqual(
    answers.map(({ response }) => response.status),
    [400, 400],
  );
  assert.equal((await tester.request({ path: '/v1/orders' })).response.status, 200);
});

describe('paths and methods', () => {
  test('match the most specific template', async () => {
    const { record } = await plugin({ mode: 'report' }).request({ path: '/v1/orders/latest', method: 'DELETE' });
    assert.equal(record['openapi'], 'method');
    assert.deepEqual(await ask('/v1/orders/latest'), [200]);
    assert.deepEqual(await ask('/v1/orders/7'), [200]);
    assert.deepEqual(await ask('/v1/orders/seven'), [400, 'id type']);
    assert.deepEqual(await ask('/v1/files/a.b.pdf'), [200]);
    assert.deepEqual(await ask('/v1/files/a.doc'), [400, 'kind enum']);
  });

  test('answer 404 for unknown paths, 405 with Allow for other methods', async () => {
    for (const path of ['/orders', '/v1', '/v1/orders/', '/v1/orders/1/2', '/v1/files/a', '/v1//'])
      assert.deepEqual(await ask(path), [404], path);
    const { response } = await plugin().request({ path: '/v1/orders/1', method: 'PUT' });
    assert.deepEqual([response.status, response.header('allow')], [405, 'GET, DELETE, HEAD']);
    assert.deepEqual(await ask('/v1/orders/1', { method: 'HEAD' }), [200]);
    assert.deepEqual(await ask('/orders/1', {}, { base_path: '/' }), [200]);
    assert.deepEqual(await ask('/shop/orders/1', {}, { base_path: '/shop/' }), [200]);
  });
});

describe('parameters', () => {
  const right = [
    'status=open,paid',
    'tag=a&tag=b',
    'limit=100',
    'full=true',
    'filter[min]=1.5&filter%5Bname%5D=x',
    'range=1|2%7C3',
    'where=%7B%22a%22%3A1%7D',
    'other=1',
    '',
    'tag=',
    'tag=a,b,c,d',
  ];
  const wrong: Readonly<Record<string, string>> = {
    'status=open,gone': 'status enum',
    'tag=a&tag=b&tag=c': 'tag maxItems',
    'limit=0': 'limit minimum',
    'limit=ten': 'limit type',
    'limit=1e1000': 'limit type',
    'limit=1&limit=2': 'limit syntax',
    'limit=%zz': 'limit syntax',
    'limit=%ff': 'limit syntax',
    'full=yes': 'full type',
    'filter[min]=a': 'filter type',
    'filter[other]=1': 'filter additionalProperties',
    'filter[min][x]=1': 'filter syntax',
    'filter[min]=1&filter[min]=2': 'filter syntax',
    'filter[__proto__]=1': 'filter additionalProperties',
    'range=1|a': 'range type',
    'where=%7B%7D': 'where required',
    'where=%7B%22a%22%3A1,%22a%22%3A2%7D': 'where syntax',
  };
  for (const query of right) {
    test(`accept ?${query}`, async () => assert.deepEqual(await ask(`/v1/orders?${query}`), [200]));
  }
  for (const [query, violation] of Object.entries(wrong)) {
    test(`refuse ?${query}`, async () => assert.deepEqual(await ask(`/v1/orders?${query}`), [400, violation]));
  }

  test('are checked in headers and cookies', async () => {
    const headers = (more: Readonly<Record<string, string>>) => ({ headers: more });
    assert.deepEqual(await ask('/v1/orders', headers({ 'X-Ids': '1, 2,3', Cookie: 'a=b; theme=dark' })), [200]);
    assert.deepEqual(await ask('/v1/orders', headers({ 'X-Ids': '1, b' })), [400, 'X-Ids type']);
    assert.deepEqual(await ask('/v1/orders', headers({ 'X-Trace': 'no' })), [400, 'X-Trace format']);
    assert.deepEqual(await ask('/v1/orders', headers({ Cookie: 'theme=red' })), [400, 'theme enum']);
    assert.deepEqual(await ask('/v1/orders', headers({ Cookie: 'theme=dark; theme=light' })), [400, 'theme syntax']);
  });

  test('are refused if undeclared when configured', async () => {
    const more = { undeclared_query: 'refuse' };
    assert.deepEqual(await ask('/v1/orders?limit=1&other=1', {}, more), [400, 'other undeclared']);
    assert.deepEqual(await ask('/v1/orders?limit=1&filter[min]=1', {}, more), [200]);
  });

  test('never show their values in the answer', async () => {
    const { response } = await plugin().request({ path: '/v1/orders?limit=secret1&full=secret2' });
    assert.doesNotMatch(response.body, /secret/);
  });
});

describe('bodies', () => {
  const post = (body: string, headers: Readonly<Record<string, string>> = json) => ({ method: 'POST', headers, body });

  test('are checked by the schema of their type', async () => {
    assert.deepEqual(await ask('/v1/orders', post('{"item":"tea","price":null}')), [200]);
    assert.deepEqual(await ask('/v1/orders', post('{"price":0,"parent":{"item":1}}')), [
      400,
      ' required',
      '/price exclusiveMinimum',
      '/parent/item type',
    ]);
    assert.deepEqual(await ask('/v1/orders', post('{"item":"tea","item":"x"}')), [400]);
    assert.deepEqual(await ask('/v1/orders', post(`${'['.repeat(100_000)}`)), [400]);
    assert.deepEqual(await ask('/v1/orders', post('<a/>', { 'Content-Type': 'text/xml' })), [415]);
    assert.deepEqual(await ask('/v1/orders', { method: 'POST' }), [400]);
    assert.deepEqual(await ask('/v1/orders/1', { ...post('{}'), method: 'DELETE' }), [400]);
  });

  test('are checked as forms; other declared types are accepted', async () => {
    const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
    assert.deepEqual(await ask('/v1/forms', post('n=1&t=a&t=b', form)), [200]);
    assert.deepEqual(await ask('/v1/forms', post('n=x', form)), [400, '/n type']);
    assert.deepEqual(await ask('/v1/forms', post('n=1&n=2', form)), [400]);
    assert.deepEqual(await ask('/v1/forms', post('t=a', form)), [400, ' required']);
    assert.deepEqual(await ask('/v1/forms', post('...', { 'Content-Type': 'image/png' })), [200]);
    assert.deepEqual(await ask('/v1/forms', { method: 'POST' }), [200]);
  });

  test('are forwarded and counted in report mode', async () => {
    const tester = plugin({ mode: 'report' });
    for (const path of ['/nowhere', '/v1/orders?limit=0', '/v1/orders']) {
      assert.equal((await tester.request({ path, method: 'POST', headers: json, body: '{}' })).response.status, 200);
    }
    assert.equal(tester.counts.get('openapi.wrong_requests'), 3);
  });
});

describe('answers', () => {
  const backend = (status: number, body: string, headers: Readonly<Record<string, string>> = json) => ({
    status,
    body,
    headers,
  });

  test('are checked by status and type', async () => {
    const tester = plugin({ response_mode: 'enforce' });
    const statuses = [];
    for (const answer of [
      backend(200, '[{"id":1,"item":"tea"}]'),
      backend(200, '[{"item":"tea"}]'),
      backend(200, 'tea', { 'Content-Type': 'text/plain' }),
      backend(500, '{}'),
    ]) {
      statuses.push((await tester.request({ path: '/v1/orders', backend: answer })).response.status);
    }
    assert.deepEqual(statuses, [200, 502, 502, 502]);
    assert.equal((await tester.request({ path: '/v1/orders/1', backend: backend(500, 'any') })).response.status, 500);
    assert.equal(tester.counts.get('openapi.wrong_answers'), 3);
  });

  test('are only reported if configured', async () => {
    const tester = plugin({ response_mode: 'report' });
    const { response } = await tester.request({ path: '/v1/orders', backend: backend(200, '[{"item":"tea"}]') });
    assert.equal(response.body, '[{"item":"tea"}]');
    assert.equal(tester.counts.get('openapi.wrong_answers'), 1);
  });
});

describe('mock', () => {
  async function mocked(path: string, request: Parameters<ReturnType<typeof plugin>['request']>[0] = {}) {
    const { response, upstream } = await plugin({ mock: true, response_mode: 'enforce' }).request({ path, ...request });
    assert.equal(upstream, null);
    return response;
  }
  const post = (more: Readonly<Record<string, string>> = {}) => ({
    method: 'POST',
    body: '{"item":"tea"}',
    headers: { ...json, ...more },
  });

  test('a format that is called constructor is one that nobody knows: the example of a text', async () => {
    const document = `openapi: 3.1.0
paths:
  /names:
    get:
      responses:
        "200": { description: any, content: { application/json: { schema: { type: string, format: constructor } } } }
`;
    const { response } = await plugin({ mock: true }, document).request({ path: '/names' });
    assert.deepEqual([response.status, response.body], [200, '"text"']);
  });

  test('answers with examples', async () => {
    const response = await mocked('/v1/orders', post());
    assert.deepEqual([response.status, response.body], [201, '{"id":1,"item":"tea"}']);
    assert.equal(response.header('x-mock-response'), 'true');
    assert.equal(response.header('content-type'), 'application/json');
    assert.equal((await mocked('/v1/orders', post({ Prefer: 'example=large' }))).body, '{"id":2,"item":"sugar"}');
    const refused = await mocked('/v1/orders', post({ Prefer: 'code=422; foo, example="x"' }));
    assert.equal(refused.status, 400);
    const problem = await mocked('/v1/orders', post({ Prefer: 'code=422' }));
    assert.deepEqual([problem.status, problem.body], [422, '{"title":"no"}']);
  });

  test('answers with valid values generated from schemas, including recursive ones', async () => {
    const response = await mocked('/v1/orders');
    assert.equal(response.status, 200);
    assert.equal(response.header('x-total'), '7');
    assert.equal(response.body, '[{"id":1,"item":"text","price":1}]');
  });

  test('checks requests first', async () => {
    assert.equal((await mocked('/v1/orders?limit=0')).status, 400);
    assert.equal((await mocked('/v1/orders/1', { method: 'DELETE' })).status, 204);
    assert.equal((await mocked('/v1/orders', post({ Prefer: 'code=302' }))).status, 400);
  });
});
