import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { type Generator, generateValue, pick, randomSource, type Schema } from './generate-value.ts';

/** Requests for each operation; `OPENAPI_REQUESTS=200` sends more, `OPENAPI_SEED` other ones. */
const requests = Number(process.env['OPENAPI_REQUESTS'] ?? 10);
const seed = Number(process.env['OPENAPI_SEED'] ?? 20261122);

const group = '(?:node|route|service|consumer|version|status|minute|hour|day)';
const patterns: Generator['patterns'] = {
  '^[A-Z]+$': ['GET', 'PURGE'],
  '^[0-9a-f]{64}$': ['ab'.repeat(32)],
  '^[^,/]+(?:(?:,[^,/]+){0,4}|(?:/[^,/]+){0,4})$': ['a', 'a,b', 'a/b/c/d/e'],
  '^[1-5](?:xx|[0-9]{2})(?:,[1-5](?:xx|[0-9]{2}))*$': ['404', '5xx,200'],
  '^/': ['/', '/a/b'],
  '^(?:/|https?://)': ['/', '/a?b=c', 'http://a.test/b'],
  '\\S': ['orders', 'two words'],
  '^/[^?#\\s]*$': ['/services', '/routes/a'],
  '^[0-9A-Fa-f.:]+(?:/[0-9]{1,3})?$': ['10.0.0.0/8', '::1'],
  '^(?:CN|DNS|URI|email):.': ['CN:ops', 'URI:spiffe://example/ci'],
  '^[A-Za-z0-9._~-]+$': ['ci', 'a.b-c'],
  [`^${group}(?:,${group})*$`]: ['route', 'service,status'],
  '^[a-z_]+://[^/?#]+': ['http://a.test', 'https://a.test:8443/b'],
};

/** The offset of a list, which only an answer contains. */
const token = '^[A-Za-z0-9_=-]+$';

/** Errors that a schema can state: after a body that is valid for it, they would be faults of the description. */
const stated =
  /expected an? (?:string|integer|number|boolean|array|set|map|record)\b|required field missing|unknown field|missing primary key|length must be|expected one of: |value should be between|value must be greater/;

/** Rules over several fields, which the schemas of entities leave out. */
const overFields =
  /failed conditional validation|at least one of|exactly one of|only one or none|all or none|must set|cannot set|can only be set/;

/** Errors of writes and documents that are values of the body: their schemas are elsewhere. */
const contained = /"change":\d|^\{"code":14,/;

/** Rules over several arguments, which the schemas of parameters cannot state. */
const overSeveral =
  /from: must be before to|apart: choose a shorter range|tag and prefix cannot be given together|there is no item with id|group_by/;

/** Operations that call other servers, and one whose answer has no end. */
const left: ReadonlySet<string> = new Set(['post /acme', 'patch /acme', 'get /traffic/live']);

interface Operation {
  readonly parameters?: readonly Schema[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> };
  readonly responses: Readonly<Record<string, Schema>>;
}

const adminToken = 'token-of-this-test';
const signed = { authorization: `Bearer ${adminToken}` };

let gateway: TestGateway;
let document: Readonly<Record<string, unknown>> = {};
let generator: Generator;
const validators = new Map<string, ValidateFunction>();
const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

before(async () => {
  // With a token, as some of the requests create admin users.
  gateway = await startTestGateway({ settings: { adminToken } });
  document = (await (await fetch(`${gateway.adminUrl}/openapi.json`, { headers: signed })).json()) as typeof document;
  ajv.addSchema({ $id: 'document', ...document });
  generator = { random: randomSource(seed), resolve, patterns };
});
after(() => gateway.stop());

function resolve(schema: Schema): Schema {
  const { $ref: reference, ...rest } = schema;
  if (typeof reference !== 'string') return schema;
  let target: unknown = document;
  for (const name of reference.slice(2).split('/')) target = (target as Record<string, unknown>)[name];
  return { ...resolve(target as Schema), ...rest };
}

function mismatch(schema: Schema, value: unknown): string | null {
  const text = JSON.stringify(schema).replaceAll('"#/', '"document#/');
  let validate = validators.get(text);
  if (validate === undefined) {
    validate = ajv.compile(JSON.parse(text) as object);
    validators.set(text, validate);
  }
  return validate(value) ? null : ajv.errorsText(validate.errors);
}

function queryOf(parameters: readonly Schema[]): string {
  const query = new URLSearchParams();
  for (const { in: place, name, schema, required } of parameters) {
    if (place !== 'query' || (schema as Schema)['pattern'] === token || (required !== true && generator.random() < 0.6))
      continue;
    const value = generateValue(generator, withoutTokens(schema as Schema));
    // `style: form` with `explode`: each member is an argument of its own.
    if (typeof value !== 'object' || value === null) query.set(String(name), String(value));
    else for (const [key, member] of Object.entries(value)) query.set(key, String(member));
  }
  return query.size === 0 ? '' : `?${query}`;
}

function withoutTokens(schema: Schema): Schema {
  const text = JSON.stringify(schema, (_name, value: unknown) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    return Object.fromEntries(Object.entries(value).filter(([, member]) => member?.pattern !== token));
  });
  return JSON.parse(text) as Schema;
}

function pathOf(path: string, parameters: readonly Schema[]): string {
  return path.replace(/\{([^}]+)\}/g, (_whole, name: string) => {
    const schema = (parameters.find((parameter) => parameter['name'] === name)?.['schema'] ?? {}) as Schema;
    return encodeURIComponent(
      schema['format'] === 'uuid' || generator.random() < 0.5
        ? '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10'
        : pick(generator.random, ['abc', 'a.test', 'é']),
    );
  });
}

/** What is wrong with the answer to one request that is valid for the document; null if nothing is. */
async function faultOf(
  method: string,
  path: string,
  operation: Operation,
  common: readonly Schema[],
): Promise<string | null> {
  const parameters = [...common, ...(operation.parameters ?? [])].map(resolve);
  const url = pathOf(path, parameters) + queryOf(parameters);
  const schema = operation.requestBody?.content['application/json']?.schema;
  const body = schema === undefined ? undefined : generateValue(generator, schema);
  const said = `${method.toUpperCase()} ${url} ${JSON.stringify(body) ?? ''}`;
  if (schema !== undefined) assert.equal(mismatch(schema, body), null, `the generator is wrong: ${said}`);
  const response = await fetch(gateway.adminUrl + url, {
    method: method.toUpperCase(),
    headers: { ...signed, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
  if (isStream) await response.body?.cancel();
  const text = isStream ? '' : await response.text();
  const fault = answerFault(operation, response, text) ?? refusalFault(operation, method, response.status, text);
  return fault === null ? null : `${fault}: ${response.status} ${text.slice(0, 400)} for ${said.slice(0, 600)}`;
}

function answerFault(operation: Operation, response: Response, text: string): string | null {
  const declared = operation.responses[response.status];
  if (response.status >= 500) return 'a fault of the server';
  if (declared === undefined) return 'a status that is not declared';
  const content = resolve(declared)['content'] as Record<string, { schema: Schema }> | undefined;
  if (content === undefined) return text === '' ? null : 'a body that is not declared';
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const answer = content[type];
  if (answer === undefined) return `the media type '${type}' is not declared`;
  return type === 'application/json' ? mismatch(answer.schema, JSON.parse(text)) : null;
}

function refusalFault(operation: Operation, method: string, status: number, text: string): string | null {
  if (status !== 400) return null;
  const isOffered = Object.keys(operation.responses).some((declared) => declared.startsWith('2'));
  const { message } = JSON.parse(text) as { message: string };
  if (isOffered && (method === 'get' || method === 'delete')) {
    return overSeveral.test(message) ? null : 'a valid request is refused';
  }
  // A body without a schema is any object.
  const isDescribed = operation.requestBody?.content['application/json']?.schema['$ref'] !== undefined;
  return isDescribed && stated.test(message) && !overFields.test(message) && !contained.test(text)
    ? 'a body is refused for what its schema states'
    : null;
}

test(`requests that are valid for openapi.json get an answer that it describes (seed ${seed})`, async () => {
  const faults: string[] = [];
  let accepted = 0;
  for (const [path, item] of Object.entries(document['paths'] as Record<string, Record<string, unknown>>)) {
    for (const method of ['post', 'put', 'get', 'patch', 'delete']) {
      const operation = item[method] as Operation | undefined;
      if (operation === undefined || left.has(`${method} ${path}`)) continue;
      for (let i = 0; i < requests; i++) {
        const fault = await faultOf(method, path, operation, (item['parameters'] ?? []) as readonly Schema[]);
        if (fault === null) accepted++;
        else faults.push(fault);
      }
    }
  }
  assert.deepEqual(faults, []);
  assert.ok(accepted > 1000);
});
