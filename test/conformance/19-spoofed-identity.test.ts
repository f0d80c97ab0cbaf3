import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 19: backends trust these headers, so only the gateway may send them. */
const names = [
  'X-Consumer-Id',
  'X-Consumer-Username',
  'X-Consumer-Custom-Id',
  'X-Consumer-Groups',
  'X-Credential-Identifier',
  'X-Anonymous-Consumer',
  'X-Authenticated-Groups',
  'X-Authenticated-Userid',
  'X-Authenticated-Scope',
  'X-Userinfo',
];

const spellings: Readonly<Record<string, (name: string) => string>> = {
  'as they are': (name) => name,
  'in lower case': (name) => name.toLowerCase(),
  'in upper case': (name) => name.toUpperCase(),
  'with underscores': (name) => name.replaceAll('-', '_'),
  'with one underscore': (name) => name.replace('-', '_'),
  'in upper case with underscores': (name) => name.toUpperCase().replaceAll('-', '_'),
};

/** Header lines that claim an identity, in one spelling. */
function claims(spell: (name: string) => string): string {
  return names.map((name) => `${spell(name)}: spoofed\r\n`).join('');
}

describe('identity headers from a client', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig();
  });
  after(() => rig.close());

  for (const [how, spell] of Object.entries(spellings)) {
    it(`never reach a backend ${how}`, async () => {
      const response = await exchangeOne(
        rig.port,
        `GET /identity HTTP/1.1\r\nHost: a\r\nX-First: 1\r\n${claims(spell)}X-Last: 1\r\n\r\n`,
      );
      assert.equal(response.status, 200);
      const request = rig.backend.requests.at(-1);
      assert.doesNotMatch(request?.raw ?? '', /spoofed/);
      assert.equal(request?.get('x-first'), '1');
      assert.equal(request?.get('x-last'), '1');
    });
  }

  it('never reach a backend in trailers', async () => {
    const response = await exchangeOne(
      rig.port,
      `POST /identity HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n${claims((name) => name)}\r\n`,
    );
    assert.equal(response.status, 200);
    assert.doesNotMatch(rig.backend.requests.at(-1)?.trailers ?? '', /spoofed/);
  });

  it('are stripped, like the Proxy header (httpoxy), and a request id of the client is replaced', async () => {
    await exchangeOne(rig.port, 'GET / HTTP/1.1\r\nHost: a\r\nX-Kong-Request-Id: mine\r\nProxy: http://evil/\r\n\r\n');
    const request = rig.backend.requests.at(-1);
    assert.equal(request?.all('x-kong-request-id').length, 1);
    assert.match(request?.get('x-kong-request-id') ?? '', /^[0-9a-f]{32}$/);
    assert.equal(request?.get('proxy'), undefined);
  });
});

describe('headers that a plugin removes from the request', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['key-auth'] } });
    await rig.write('PUT', '/consumers/ada', {});
    await rig.write('POST', '/consumers/ada/key-auth', { key: 'key-of-ada' });
    const config = { hide_credentials: true, key_names: ['x-own-key'] };
    await rig.write('POST', '/services/backend/plugins', { name: 'key-auth', config });
  });
  after(() => rig.close());

  it('do not come back in trailers in any spelling', async () => {
    const trailers = 'X-Own-Key: key-of-ada\r\nx_own_key: key-of-ada\r\nX-Sum: 1\r\n';
    const response = await exchangeOne(
      rig.port,
      `POST / HTTP/1.1\r\nHost: a\r\nX-Own-Key: key-of-ada\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n${trailers}\r\n`,
      'POST',
    );
    assert.equal(response.status, 200);
    assert.equal(rig.backend.requests.at(-1)?.trailers.trim(), 'X-Sum: 1');
  });
});

describe('identity headers when a plugin authenticates the client', () => {
  let rig: Rig;
  let key = '';
  const tokens = { user: '', machine: '' };
  before(async () => {
    rig = await startRig({ settings: { plugins: ['acl', 'key-auth', 'oauth2'], trustedIps: ['127.0.0.1'] } });
    const ada = await rig.write('PUT', '/consumers/ada', { custom_id: 'A-1' });
    const anonymous = await rig.write('PUT', '/consumers/nobody', {});
    key = String((await rig.write('POST', '/consumers/ada/key-auth', {}))['key']);
    await rig.write('PUT', '/consumers/ada/acls/writers', {});
    for (const [name, config] of [
      ['strict', {}],
      ['open', { anonymous: anonymous['id'] }],
    ] as const) {
      await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`] });
      await rig.write('POST', `/routes/${name}/plugins`, { name: 'key-auth', config });
      await rig.write('POST', `/routes/${name}/plugins`, { name: 'acl', config: { deny: ['bandits'] } });
    }
    assert.equal(ada['username'], 'ada');
    await rig.write('PUT', '/services/backend/routes/tokens', { paths: ['/tokens'] });
    await rig.write('POST', '/routes/tokens/plugins', {
      name: 'oauth2',
      config: { enable_client_credentials: true, global_credentials: true, accept_http_if_already_terminated: true },
    });
    await rig.write('POST', '/consumers/ada/oauth2', {
      name: 'app',
      client_id: 'app',
      redirect_uris: ['https://a.test/'],
    });
    for (const [name, user] of [
      ['user', { authenticated_userid: 'user-7', scope: 'read' }],
      ['machine', {}],
    ] as const) {
      const token = await rig.write('POST', '/oauth2/app/oauth2_tokens', { expires_in: 600, ...user });
      tokens[name] = String(token['access_token']);
    }
  });
  after(() => rig.close());

  async function seen(path: string, lines: string): Promise<readonly (readonly [string, string])[]> {
    const response = await exchangeOne(rig.port, `GET ${path} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`);
    assert.equal(response.status, 200);
    const request = rig.backend.requests.at(-1);
    assert.doesNotMatch(request?.raw ?? '', /spoofed/);
    const wanted = new Set(names.map((name) => name.toLowerCase()));
    return (request?.lines ?? [])
      .map(([name, value]) => [name.toLowerCase().replaceAll('_', '-'), value] as const)
      .filter(([name]) => wanted.has(name))
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
  }

  for (const [how, spell] of Object.entries(spellings)) {
    it(`are set once by the gateway, even when a client sends them ${how}`, async () => {
      const consumers = await rig.write('GET', '/consumers/ada');
      const credentials = await rig.write('GET', `/key-auths/${key}`);
      for (const path of ['/strict', '/open']) {
        assert.deepEqual(await seen(path, `apikey: ${key}\r\n${claims(spell)}`), [
          ['x-consumer-custom-id', 'A-1'],
          ['x-consumer-groups', 'writers'],
          ['x-consumer-id', consumers['id']],
          ['x-consumer-username', 'ada'],
          ['x-credential-identifier', credentials['id']],
        ]);
      }
    });

    it(`carry the user and the scope of the token, even when a client sends them ${how}`, async () => {
      const { id } = await rig.write('GET', '/consumers/ada');
      const consumer = [
        ['x-consumer-custom-id', 'A-1'],
        ['x-consumer-id', id],
        ['x-consumer-username', 'ada'],
        ['x-credential-identifier', 'app'],
      ];
      const user = [
        ['x-authenticated-scope', 'read'],
        ['x-authenticated-userid', 'user-7'],
      ];
      const authorization = (token: string): string => `Authorization: Bearer ${token}\r\n${claims(spell)}`;
      assert.deepEqual(await seen('/tokens', authorization(tokens.user)), [...user, ...consumer]);
      assert.deepEqual(await seen('/tokens', authorization(tokens.machine)), consumer);
    });

    it(`do not identify an anonymous client that sends them ${how}`, async () => {
      const { id } = await rig.write('GET', '/consumers/nobody');
      assert.deepEqual(await seen('/open', `apikey: wrong\r\n${claims(spell)}`), [
        ['x-anonymous-consumer', 'true'],
        ['x-consumer-id', id],
        ['x-consumer-username', 'nobody'],
      ]);
      const refused = await exchangeOne(rig.port, `GET /strict HTTP/1.1\r\nHost: a\r\n${claims(spell)}\r\n`);
      assert.equal(refused.status, 401);
    });
  }
});
