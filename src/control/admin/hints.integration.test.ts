import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startTestAdmin, type TestAdmin, type TestAnswer } from './admin.fixture.ts';

let admin: TestAdmin;
before(async () => {
  admin = await startTestAdmin();
  await admin.call('POST', '/services', { name: 'users', host: 'users.test' });
  await admin.call('POST', '/upstreams', { name: 'pool' });
});
after(() => admin[Symbol.asyncDispose]());

const formType = { 'content-type': 'application/x-www-form-urlencoded' };

function form(path: string, body: string): Promise<TestAnswer> {
  return admin.call('POST', path, body, formType);
}

/** The request, Kong's message, and the hint next to it. */
interface Case {
  readonly name: string;
  readonly send: () => Promise<TestAnswer>;
  readonly status?: number;
  readonly message: RegExp;
  readonly hint: string;
}

const cases: readonly Case[] = [
  {
    name: 'a URL without a scheme',
    send: () => form('/services', 'name=a&url=127.0.0.1:9001'),
    message: /^3 schema violations \(host: required field missing; path: should start with: \/; protocol: /,
    hint: 'url needs a scheme and a host: http://127.0.0.1:9001',
  },
  {
    name: 'a URL with an impossible port',
    send: () => form('/services', 'name=a&url=http://a.test:99999'),
    message: /port: value should be between 0 and 65535/,
    hint: 'the port of url must be from 0 to 65535, not 99999',
  },
  {
    name: 'a misspelt plugin',
    send: () => admin.call('POST', '/plugins', { name: 'rate-limit' }),
    message: /plugin 'rate-limit' not enabled; add it to the 'plugins' configuration property/,
    hint: "did you mean 'rate-limiting'?",
  },
  {
    name: 'a misspelt field within a plugin',
    send: () => admin.call('POST', '/plugins', { name: 'rate-limiting', config: { minutes: 5 } }),
    message: /config.minutes: unknown field/,
    hint: 'did you mean config.minute?',
  },
  {
    name: 'a misspelt field',
    send: () => admin.call('POST', '/services/users/routes', { path: ['/a'], paths: ['/a'] }),
    message: /path: unknown field/,
    hint: 'did you mean paths?',
  },
  {
    name: 'broken JSON',
    send: () => admin.call('POST', '/services', '{"name": "x", "url": }', { 'content-type': 'application/json' }),
    message: /^Cannot parse JSON body$/,
    hint: 'line 1, column 22: unexpected "}"',
  },
  {
    name: 'JSON that is no object',
    send: () => admin.call('POST', '/services', '[1]', { 'content-type': 'application/json' }),
    message: /^Cannot parse JSON body$/,
    hint: 'the body must be a JSON object',
  },
  {
    name: 'JSON sent as a form',
    send: () => form('/services', '{"name": "x", "url": "http://a.test"}'),
    message: /schema violations/,
    hint: 'the body looks like JSON but was sent as a form: send Content-Type: application/json (curl --json)',
  },
  {
    name: 'a media type that is not accepted',
    send: () => admin.call('POST', '/services', 'name=x', { 'content-type': 'text/plain' }),
    status: 415,
    message: /^Unsupported media type$/,
    hint: 'send Content-Type: application/json, application/x-www-form-urlencoded or multipart/form-data',
  },
  {
    name: 'a path that does not exist',
    send: () => admin.call('GET', '/service/users'),
    status: 404,
    message: /^Not found$/,
    hint: 'did you mean /services/users?',
  },
  {
    name: 'a target with an impossible port',
    send: () => form('/upstreams/pool/targets', 'target=10.0.0.1:99999'),
    message: /target: Invalid target; not a valid hostname or ip address/,
    hint: 'the port must be from 0 to 65535, not 99999',
  },
  {
    name: 'a target with a scheme',
    send: () => form('/upstreams/pool/targets', 'target=http://10.0.0.1:80'),
    message: /target: Invalid target; not a valid hostname or ip address/,
    hint: 'a target is a host and a port, without a scheme or a path: 10.0.0.1:8080',
  },
  {
    name: 'a route host with a scheme',
    send: () => form('/services/users/routes', 'hosts[]=http://example.com'),
    message: /hosts.1: /,
    hint: 'hosts must be a host name without a scheme or a path: example.com',
  },
  {
    name: 'positions of a form that begin with 0',
    send: () => form('/services/users/routes', 'paths[0]=/a'),
    message: /paths: expected an array/,
    hint: 'positions in a form begin with 1: paths[1]=..., or paths[]=... for the next one',
  },
  {
    name: 'a file name instead of a certificate',
    send: () => form('/certificates', 'cert=cert.pem&key=key.pem'),
    message:
      /cert: invalid certificate: no -----BEGIN CERTIFICATE----- line; key: invalid key: no -----BEGIN PRIVATE KEY-----/,
    hint: "cert takes PEM text, from -----BEGIN to -----END; with curl: --form 'cert=<file.pem'",
  },
];

for (const { name, send, status = 400, message, hint } of cases) {
  test(`${name}: the message is Kong's and a hint says what to do`, async () => {
    const answer = await send();
    assert.equal(answer.status, status, answer.text);
    assert.match(String(answer.json['message']), message);
    assert.equal(answer.json['hint'], hint);
  });
}

test('an error that needs no explanation has no hint', async () => {
  const answer = await admin.call('POST', '/services', { name: 'a', host: 'a.test', retries: -1 });
  assert.equal(answer.status, 400);
  assert.equal('hint' in answer.json, false);
});

test('fields that a url overrides are named in a header', async () => {
  const answer = await form('/services', 'name=both&url=http://a.test:9001&port=9009');
  assert.equal(answer.status, 201);
  assert.equal(answer.json['port'], 9001);
  assert.equal(answer.headers['x-sluicegate-hint'], 'url sets protocol, host, port and path: ignored port');
});

test('a regular expression without a tilde is accepted, with a warning to the client and in the log', async () => {
  const answer = await admin.call('POST', '/services/users/routes', { paths: ['/users/\\d+$'] });
  assert.equal(answer.status, 201);
  const hint = 'the path /users/\\d+$ is matched as plain text; a regular expression begins with ~: ~/users/\\d+$';
  assert.equal(answer.headers['x-sluicegate-hint'], hint);
  assert.ok(admin.warnings.some(({ message }) => message === hint));
});

test('plain paths with brackets, dots and spaces get no warning', async () => {
  for (const path of ['/a(b)', '/v1.0/file.json', '/a b', '/a+b', '/$metadata', '/a[1]', '/~user', '/wild*']) {
    const answer = await admin.call('POST', '/services/users/routes', { paths: [path] });
    if (answer.status === 201) assert.equal(answer.headers['x-sluicegate-hint'], undefined, path);
    else assert.equal(answer.status, 400, path);
  }
});

const withoutNull: readonly (readonly [path: string, body: Record<string, unknown>, field: string])[] = [
  ['/services', { host: 'a.test', port: null }, 'port'],
  ['/services', { host: 'a.test', protocol: null }, 'protocol'],
  ['/services', { host: 'a.test', enabled: null }, 'enabled'],
  ['/services/users/routes', { paths: ['/n'], strip_path: null }, 'strip_path'],
  ['/services/users/routes', { paths: ['/n'], protocols: null }, 'protocols'],
  ['/plugins', { name: 'rate-limiting', enabled: null }, 'enabled'],
];

for (const [path, body, field] of withoutNull) {
  test(`null for ${field} on POST ${path} is refused`, async () => {
    const refused = await admin.call('POST', path, body);
    assert.equal(refused.status, 400, refused.text);
    assert.deepEqual(refused.json['fields'], { [field]: 'required field missing' });
  });
}

test('a PATCH with null restores the default', async () => {
  const service = await admin.call('POST', '/services', { name: 'patched', host: 'a.test', port: 81, enabled: false });
  assert.equal(service.status, 201);
  const answer = await admin.call('PATCH', '/services/patched', { port: null, enabled: null });
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual([answer.json['port'], answer.json['enabled']], [80, true]);
});
