import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestGateway, type TestGateway } from '../../../test/support/gateway.ts';

let gateway: TestGateway;

before(async () => {
  gateway = await startTestGateway({ settings: { plugins: ['openapi', 'body-validator', 'request-validator'] } });
});
after(() => gateway.stop());

/** Some megabyte of schemas of objects. */
function schemas(count: number): Readonly<Record<string, object>> {
  const text = (at: number, field: number) => ({
    type: 'string',
    minLength: field,
    description: `field ${field} of ${at}`,
  });
  return Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `Part${at}`,
      {
        type: 'object',
        required: ['f0', 'f1'],
        properties: Object.fromEntries(Array.from({ length: 10 }, (_, field) => [`f${field}`, text(at, field)])),
      },
    ]),
  );
}

function openApiDocument(count: number, fault = false): string {
  const parts = schemas(count);
  const paths = Object.fromEntries(
    Object.keys(parts).map((name) => [
      `/${name}`,
      {
        post: {
          requestBody: { content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } } },
          responses: { 200: { description: 'fine' } },
        },
      },
    ]),
  );
  const extra = fault ? { Part0: { type: 'nothing' } } : {};
  const info = { title: 'parts', version: '1' };
  return JSON.stringify({ openapi: '3.1.0', info, paths, components: { schemas: { ...parts, ...extra } } });
}

/** The longest time for which the event loop of the Admin API was blocked. */
async function maxStall(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 1);
  try {
    await work();
  } finally {
    clearInterval(timer);
  }
  return longest;
}

const large = 1000;
// Workers compile the schemas of the two validators whole.
const definitions = schemas(60);
const properties = Object.fromEntries(Object.keys(definitions).map((name) => [name, { $ref: `#/$defs/${name}` }]));
const schema = JSON.stringify({ $defs: definitions, type: 'object', properties });
for (const [name, config] of [
  ['openapi', { document: openApiDocument(large) }],
  ['body-validator', { schema }],
  ['request-validator', { body_schema: schema, version: 'draft202012' }],
] as const) {
  test(`a configuration of ${name} that is slow to check does not block the Admin API`, async () => {
    let id = '';
    const stall = await maxStall(async () => {
      const answer = await gateway.admin('POST', '/plugins', { name, config });
      assert.equal(answer.status, 201, JSON.stringify(answer.body).slice(0, 400));
      id = String(answer.body['id']);
    });
    const patched = await gateway.admin('PATCH', `/plugins/${id}`, { enabled: false });
    assert.equal(patched.status, 200);
    assert.equal((await gateway.admin('DELETE', `/plugins/${id}`)).status, 204);
    assert.ok(stall < 400, `${stall} ms`);
  });
}

test('an error in a large document is in the answer, and nothing is stored', async () => {
  const config = { document: openApiDocument(200, true) };
  const answer = await gateway.admin('POST', '/plugins', { name: 'openapi', config });
  assert.equal(answer.status, 400);
  assert.match(JSON.stringify(answer.body), /config.*document.*cannot be used: .*Part0/);
  assert.deepEqual((await gateway.admin('GET', '/plugins')).body['data'], []);
});
