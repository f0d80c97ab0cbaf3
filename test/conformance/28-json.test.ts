import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { answerEach } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, residentMemory, startRig } from '../support/rig.ts';

const levels = 100_000;
const node = { type: ['object', 'array', 'null'], properties: { a: { $ref: '#' } }, items: { $ref: '#' } };
const branches = { anyOf: [{ $ref: '#/definitions/n' }, { $ref: '#/definitions/n' }] };
const document = {
  openapi: '3.1.0',
  info: { title: 'any', version: '1' },
  paths: {
    '/x': {
      post: {
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/Node' } } } },
        responses: {},
        parameters: [{ name: 'q', in: 'query', content: { 'application/json': { schema: {} } } }],
      },
    },
  },
  components: {
    schemas: {
      Node: {
        ...node,
        properties: { a: { $ref: '#/components/schemas/Node' } },
        items: { $ref: '#/components/schemas/Node' },
      },
    },
  },
};

/** Configurations of plugins that read JSON from clients and accept recursive values of any depth. */
const readers: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'body-validator': { schema: JSON.stringify(node) },
  'request-validator': { version: 'draft7', body_schema: JSON.stringify(node) },
  openapi: { document: JSON.stringify(document), base_path: '/openapi' },
};

const hostile: Readonly<Record<string, string>> = {
  'nested arrays': '['.repeat(levels) + ']'.repeat(levels),
  'nested objects': `${'{"a":'.repeat(levels)}null${'}'.repeat(levels)}`,
  'nesting that never ends': '['.repeat(levels),
  'a name that occurs twice': '{"a":null,"a":[]}',
  'a name that occurs twice, once escaped': '{"a":null,"\\u0061":[]}',
  'a number beyond all': `[${'9'.repeat(400)}]`,
  'text behind it': '[] []',
  'a cut surrogate in UTF-8': '["\xed\xa0\x80"]',
};

/** Case 28, JSON: deep nesting, large lists, special member names. */
describe('hostile JSON', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ script: answerEach(() => 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok') });
    for (const [name, config] of Object.entries(readers)) {
      await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
      await rig.write('POST', `/routes/${name}/plugins`, { name, config });
    }
  });
  after(() => rig.close());

  async function ask(name: string, body: string, query = ''): Promise<number> {
    using client = await openClient(rig.port);
    const head = `POST /${name}/x${query} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;
    client.write(Buffer.from(head + body, 'latin1'));
    return (await client.readResponse('POST')).status;
  }

  for (const name of Object.keys(readers)) {
    it(`is refused at once by ${name}, which still serves others`, async () => {
      const before = residentMemory();
      const seen = rig.backend.requests.length;
      for (const [what, body] of Object.entries(hostile)) {
        const begun = performance.now();
        assert.equal(await ask(name, body), 400, what);
        assert.ok(performance.now() - begun < 2_000, `${what}: ${performance.now() - begun} ms`);
      }
      assert.equal(rig.backend.requests.length, seen);
      assert.equal(await ask(name, '{"a":[null,{"a":{}}]}'), 200);
      assert.ok(residentMemory() - before < 200_000_000);
    });

    it(`does not keep ${name} from accepting a large list`, async () => {
      assert.equal(await ask(name, `[${'[],'.repeat(300_000)}[]]`), 200);
    });

    it(`cannot pollute prototypes through __proto__ in ${name}`, async () => {
      assert.equal(await ask(name, '{"__proto__":{"a":1}}'), 200);
      assert.equal(await ask(name, '{"a":{"__proto__":null,"a":1}}'), 400);
      assert.equal(await ask(name, '{"a":null}'), 200);
    });
  }

  it('is refused in a parameter', async () => {
    assert.equal(await ask('openapi', '{}', `?q=${'['.repeat(5_000)}`), 400);
    assert.equal(await ask('openapi', '{}', '?q=%7B%22a%22:1,%22a%22:2%7D'), 400);
  });

  it('does not make a schema of many branches take exponential time', async () => {
    const schema = {
      ...branches,
      definitions: { n: { properties: { a: branches }, not: { const: 'never' }, type: 'object' } },
    };
    await rig.write('PUT', '/services/backend/routes/branches', { paths: ['/branches'] });
    await rig.write('POST', '/routes/branches/plugins', {
      name: 'body-validator',
      config: { version: 'draft-07', schema: JSON.stringify(schema) },
    });
    const begun = performance.now();
    assert.equal(await ask('branches', `${'{"a":'.repeat(100)}1${'}'.repeat(100)}`), 400);
    assert.ok(performance.now() - begun < 2_000, `${performance.now() - begun} ms`);
  });
});
