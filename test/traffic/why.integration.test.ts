import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { answer, answerEach } from '../support/raw-backend.ts';
import { openClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';
import type { Record } from './traffic-rig.fixture.ts';

/** Why an error was answered: one sentence, and the entity or setting that caused it. Further ones are in records.integration.test.ts. */

let rig: Rig;

before(async () => {
  rig = await startRig({
    env: {
      SLUICEGATE_TRAFFIC_RECORDER: '200',
      SLUICEGATE_TRAFFIC_RECORDER_RATE: '1000',
      KONG_NGINX_HTTP_CLIENT_MAX_BODY_SIZE: '1000',
      KONG_NGINX_HTTP_CLIENT_BODY_TIMEOUT: '1s',
    },
    script: answerEach(({ target, connection }) => {
      if (target.includes('/silent')) return null;
      if (target.includes('/garbage')) {
        connection.end('this is not HTTP\r\n\r\n');
        return null;
      }
      if (target.includes('/large'))
        return answer(JSON.stringify({ x: 'x'.repeat(5000) }), 'Content-Type: application/json\r\n');
      return answer('ok');
    }),
    route: { paths: ['/open'] },
  });
  const route = async (
    name: string,
    plugin: string | null,
    config: object = {},
    fields: object = {},
  ): Promise<void> => {
    await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false, ...fields });
    if (plugin !== null) await rig.write('POST', `/routes/${name}/plugins`, { name: plugin, config });
  };
  await route('members', 'key-auth');
  await rig.write('POST', '/routes/members/plugins', { name: 'acl', config: { allow: ['staff'] } });
  await route('office', 'ip-restriction', { allow: ['10.0.0.0/8'] });
  await route('small', 'request-size-limiting', { allowed_payload_size: 10, size_unit: 'bytes' });
  await route('secure', null, {}, { protocols: ['https'] });
  await route('transformed', 'response-transformer', { add: { json: ['a:b'] }, max_body_size: 1000 });
  const schema = JSON.stringify({ type: 'object' });
  await route('validated', 'request-validator', { version: 'draft4', body_schema: schema });
  await route('granted', 'oauth2', { enable_client_credentials: true });
  await rig.write('PUT', '/consumers/ann', {});
  await route('tokens', 'jwt', { claims_to_verify: ['exp'] });
  await rig.write('POST', '/consumers/ann/jwt', { key: 'ann', algorithm: 'HS256', secret: 'secret-of-ann' });
  await rig.write('POST', '/consumers/ann/key-auth', { key: 'key-of-ann' });
});
after(() => rig.close());

/** Sends bytes, and waits for the record of the request. `leave`: disconnects when the backend has the request. */
async function recorded(bytes: string, path: string, leave = false): Promise<Record> {
  using client = await openClient(rig.port);
  const before = rig.backend.connections.length;
  client.write(bytes);
  if (leave) {
    await until(() => rig.backend.connections.length > before);
    client.close();
  } else {
    await client.readResponse();
  }
  let found: Record;
  await until(async () => {
    const { body } = await rig.gateway.admin('GET', `/traffic?path=${encodeURIComponent(path)}`);
    found = (body['data'] as Record[])[0];
    return found !== undefined;
  });
  return (await rig.gateway.admin('GET', `/traffic/${found.id}`)).body;
}

function head(method: string, path: string, ...lines: readonly string[]): string {
  return `${[`${method} ${path} HTTP/1.1`, 'Host: a.test', ...lines].join('\r\n')}\r\n\r\n`;
}

interface Expected {
  readonly status: number;
  readonly reason: RegExp;
  readonly cause: readonly [entity: string | null, name: string | null, field: string | null];
  readonly settings?: readonly string[];
}

async function checked(record: Record, { status, reason, cause, settings = [] }: Expected): Promise<void> {
  assert.equal(record.status, status);
  assert.match(record.reason, reason);
  const { why } = record.explanation;
  assert.equal(why.sentence, record.reason);
  assert.notEqual(why.cause, null, record.reason);
  assert.deepEqual([why.cause.entity, why.cause.name, why.cause.field], cause);
  assert.deepEqual(why.cause.settings, settings);
  if (why.cause.entity === null) return;
  // Links lead there.
  assert.equal((await rig.gateway.admin('GET', `/${why.cause.entity}/${why.cause.id}`)).status, 200);
}

describe('the reason of an error', () => {
  it('401 of a plugin whose answer has no message, but a description', async () => {
    await checked(await recorded(head('GET', '/granted/1'), '/granted/1'), {
      status: 401,
      reason: /^The plugin oauth2 answered 401: The access token is missing\.$/,
      cause: ['plugins', 'oauth2', 'config'],
    });
    const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: 'ann', exp: 1_000_000_000 })}`;
    const token = `${signed}.${createHmac('sha256', 'secret-of-ann').update(signed).digest('base64url')}`;
    await checked(await recorded(head('GET', '/tokens/1', `Authorization: Bearer ${token}`), '/tokens/1'), {
      status: 401,
      reason: /^The plugin jwt answered 401: exp: token expired\.$/,
      cause: ['plugins', 'jwt', 'config'],
    });
  });

  it('403 of a group, and of an address', async () => {
    await checked(await recorded(head('GET', '/members/1', 'apikey: key-of-ann'), '/members/1'), {
      status: 403,
      reason: /^The plugin acl answered 403: You cannot consume this service\.$/,
      cause: ['plugins', 'acl', 'config'],
    });
    await checked(await recorded(head('GET', '/office/1'), '/office/1'), {
      status: 403,
      reason: /^The plugin ip-restriction answered 403: IP address not allowed: 127\.0\.0\.1\.$/,
      cause: ['plugins', 'ip-restriction', 'config'],
    });
  });

  it('408 of a body that does not arrive', async () => {
    await checked(await recorded(head('POST', '/open/slow', 'Content-Length: 10'), '/open/slow'), {
      status: 408,
      reason: /^The client sent its request too slowly\.$/,
      cause: [null, null, null],
      settings: ['nginx_http_client_body_timeout', 'client_body_min_rate'],
    });
  });

  it('413 of the node, and of a plugin: announced, and in chunks', async () => {
    const settings = ['nginx_http_client_max_body_size'];
    await checked(await recorded(head('POST', '/open/big', 'Content-Length: 1001'), '/open/big'), {
      status: 413,
      reason: /^The request body of 1001 bytes is larger than nginx_http_client_max_body_size permits\.$/,
      cause: [null, null, null],
      settings,
    });
    const chunk = `${(1001).toString(16)}\r\n${'x'.repeat(1001)}\r\n`;
    const chunked = 'Transfer-Encoding: chunked';
    await checked(await recorded(head('POST', '/open/chunks', chunked) + chunk, '/open/chunks'), {
      status: 413,
      reason: /^The request body is larger than nginx_http_client_max_body_size permits\.$/,
      cause: [null, null, null],
      settings,
    });
    const plugin = ['plugins', 'request-size-limiting', 'config'] as const;
    await checked(await recorded(head('POST', '/small/1', 'Content-Length: 11'), '/small/1'), {
      status: 413,
      reason: /^The plugin request-size-limiting answered 413: Request size limit exceeded\.$/,
      cause: plugin,
    });
    const gzip = ['Content-Encoding: gzip', 'Content-Type: application/json', 'Content-Length: 2'];
    await checked(await recorded(`${head('POST', '/validated/1', ...gzip)}{}`, '/validated/1'), {
      status: 400,
      reason: /^The plugin request-validator answered 400: The body does not match its Content-Encoding\.$/,
      cause: ['plugins', 'request-validator', 'config'],
    });
    const small = `b\r\n${'x'.repeat(11)}\r\n`;
    await checked(await recorded(head('POST', '/small/2', chunked) + small, '/small/2'), {
      status: 413,
      reason: /^The request body is larger than the plugin request-size-limiting permits\.$/,
      cause: plugin,
    });
  });

  it('426 of a route that accepts HTTPS only', async () => {
    await checked(await recorded(head('GET', '/secure/1'), '/secure/1'), {
      status: 426,
      reason: /^The route accepts HTTPS only\.$/,
      cause: ['routes', 'secure', 'protocols'],
    });
  });

  it('499 of a client that left, and where the request was then', async () => {
    const left = await recorded(head('GET', '/open/silent'), '/open/silent', true);
    await checked(left, {
      status: 499,
      reason: /^The client disconnected after [\d.]+ ms, while the backend at 127\.0\.0\.1:\d+ had not answered\.$/,
      cause: ['services', 'backend', null],
    });
    assert.equal(left.aborted, true);
  });

  it('502 of an answer that is not HTTP, and of one that is too large for a plugin', async () => {
    await checked(await recorded(head('GET', '/open/garbage'), '/open/garbage'), {
      status: 502,
      reason: /^The answer of the backend was not valid HTTP: /,
      cause: ['services', 'backend', null],
    });
    await checked(await recorded(head('GET', '/transformed/large'), '/transformed/large'), {
      status: 502,
      reason: /^The answer of the backend is larger than the plugin response-transformer accepts\.$/,
      cause: ['plugins', 'response-transformer', 'config'],
    });
  });
});

it('a path is shown as the characters that its bytes stand for', async () => {
  const record = await recorded(head('GET', '/open/z%C3%BCrich/%E2%80%AE'), '/open/zürich');
  assert.equal(record.path, '/open/zürich/\u202e');
  assert.equal(record.explanation.request.path, '/open/zürich/\u202e');
  assert.deepEqual(record.explanation.router.matched.conditions[0].got, ['/open/zürich/\u202e']);
});
