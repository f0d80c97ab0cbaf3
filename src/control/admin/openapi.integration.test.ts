import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestAdmin, type TestAdmin } from './admin.fixture.ts';

let admin: TestAdmin;
let document: Readonly<Record<string, unknown>> = {};
type Tree = Readonly<Record<string, unknown>>;

before(async () => {
  admin = await startTestAdmin();
  document = (await admin.call('GET', '/openapi.json')).json;
});
after(() => admin[Symbol.asyncDispose]());

const paths = (): Readonly<Record<string, Tree>> => document['paths'] as Readonly<Record<string, Tree>>;
const methods = ['get', 'post', 'put', 'patch', 'delete'];

function operations(): readonly (readonly [string, string, Tree])[] {
  return Object.entries(paths()).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [[path, method, item[method] as Tree] as const])),
  );
}

function* nodes(value: unknown): Generator<Tree> {
  if (typeof value !== 'object' || value === null) return;
  yield value as Tree;
  for (const child of Object.values(value)) yield* nodes(child);
}

test('it is OpenAPI 3.1 with its required fields', () => {
  assert.equal(document['openapi'], '3.1.0');
  assert.deepEqual(Object.keys(document['info'] as object).includes('title'), true);
  assert.ok(operations().length > 150);
});

/** Answered in Kong's words, but always refused. */
const hidden = (path: string, method: string): boolean =>
  (method === 'post' && path === '/tags') ||
  (method === 'delete' && paths()[path]?.['delete'] === undefined && /\}\/[a-z_]+$/.test(path));

test('it has every path of the route table and every method that OPTIONS names', async () => {
  const endpoints = (await admin.call('GET', '/endpoints')).json['data'] as readonly string[];
  assert.deepEqual(Object.keys(paths()).toSorted(), endpoints.toSorted());
  for (const path of endpoints) {
    const { headers } = await admin.call('OPTIONS', path.replace(/\{[^}]+\}/g, 'x'));
    const offered = String(headers.allow).toLowerCase().split(', ');
    const described = methods.filter((method) => paths()[path]?.[method] !== undefined);
    assert.deepEqual(
      described.toSorted(),
      offered.filter((method) => methods.includes(method) && !hidden(path, method)),
      path,
    );
  }
});

test('every reference leads somewhere', () => {
  let count = 0;
  for (const node of nodes(document)) {
    const { $ref: reference } = node;
    if (typeof reference !== 'string') continue;
    count += 1;
    assert.match(reference, /^#\/components\//);
    let target: unknown = document;
    for (const name of reference.slice(2).split('/')) target = (target as Tree | undefined)?.[name];
    assert.notEqual(target, undefined, reference);
  }
  assert.ok(count > 500);
});

test('every operation has its own id, a tag that is declared, and answers', () => {
  const ids = operations().map(([, , operation]) => operation['operationId']);
  assert.equal(new Set(ids).size, ids.length);
  const tags = new Set((document['tags'] as readonly { name: string }[]).map(({ name }) => name));
  for (const [path, method, operation] of operations()) {
    const place = `${method} ${path}`;
    for (const tag of operation['tags'] as readonly string[]) assert.ok(tags.has(tag), place);
    const responses = Object.entries(operation['responses'] as Record<string, Tree>);
    for (const [status, response] of responses) {
      assert.match(status, /^[2345]\d\d$/, place);
      assert.ok(response['$ref'] !== undefined || typeof response['description'] === 'string', place);
    }
    assert.ok(responses.length > 1, place);
  }
});

test('every parameter of a path is declared, and no other', () => {
  for (const [path, item] of Object.entries(paths())) {
    const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
    const declared = ((item['parameters'] ?? []) as readonly Tree[]).map(({ name }) => name);
    assert.deepEqual(declared, inPath, path);
  }
});

test('every list has the parameters of all paging styles, which exclude each other', () => {
  const lists = operations().filter(([, method, operation]) => {
    return method === 'get' && JSON.stringify(operation['responses']).includes('_list"');
  });
  assert.ok(lists.length > 15);
  for (const [path, , operation] of lists) {
    assert.ok(JSON.stringify(operation['parameters']).includes('parameters/paging"'), path);
  }
  const { paging } = (document['components'] as { parameters: Record<string, { schema: { anyOf: Tree[] } }> })
    .parameters;
  assert.deepEqual(
    paging?.schema.anyOf.map(({ properties }) => Object.keys(properties as Tree)),
    [
      ['size', 'offset'],
      ['limit', 'cursor'],
      ['page', 'limit'],
      ['before', 'limit'],
    ],
  );
});

test('reports describe their formats and the refusal of a wrong request', () => {
  const answerOf = (path: string) => {
    const [, , operation] = operations().find(([where, method]) => where === path && method === 'get')!;
    const responses = operation['responses'] as Readonly<Record<string, Tree>>;
    assert.ok('400' in responses || path === '/metrics', path);
    return Object.keys(responses['200']?.['content'] as object);
  };
  assert.deepEqual(answerOf('/analytics/usage'), ['application/json', 'text/csv']);
  assert.deepEqual(answerOf('/analytics/summary'), ['application/json']);
  assert.deepEqual(answerOf('/metrics'), ['text/plain', 'application/openmetrics-text']);
});

test('bodies are described in all three encodings', () => {
  const post = paths()['/services']?.['post'] as { requestBody: { content: Tree } };
  assert.deepEqual(Object.keys(post.requestBody.content), [
    'application/json',
    'application/x-www-form-urlencoded',
    'multipart/form-data',
  ]);
});

test('what an entity looks like is what its description says', async () => {
  const { json } = await admin.call('POST', '/upstreams', { name: 'up.test' });
  const schemas = (document['components'] as { schemas: Record<string, { properties: Tree }> }).schemas;
  assert.deepEqual(Object.keys(json).toSorted(), Object.keys(schemas['upstreams']?.properties ?? {}).toSorted());
});
