import assert from 'node:assert/strict';
import { authorization, dateIn } from '../../src/plugins/hmac-auth/sign.fixture.ts';
import { tokenOf } from '../../src/plugins/jwt/tokens.fixture.ts';
import { type TestAuthority, TestPki } from '../../src/plugins/mtls-auth/pki.fixture.ts';
import { clients, startProvider, type TestProvider } from '../support/oidc-provider.ts';
import { skipWithoutSlapd, startSlapd, type TestSlapd } from '../support/slapd.ts';
import { basic, echoed, type FirstTry, knowsAda, type Setting } from './first-try.ts';

const key = { apikey: 'a-key-of-ada' };

async function keyOfAda({ write, name }: Setting): Promise<void> {
  await write('PUT', '/consumers/ada');
  await write('PUT', `/consumers/ada/key-auth/${key.apikey}-${name}`, {});
}

const keyFor = ({ name }: Setting) => ({ apikey: `${key.apikey}-${name}` });

async function provider({ resources }: Setting): Promise<TestProvider> {
  return resources.use(await startProvider());
}

let slapd: TestSlapd;
let identity: TestProvider;
let root: TestAuthority;

export const authentication: Readonly<Record<string, FirstTry>> = {
  'basic-auth': {
    works: async (setting) => {
      await setting.write('PUT', '/consumers/ada');
      await setting.write('POST', '/consumers/ada/basic-auth', { username: 'ada', password: 'lovelace' });
      await knowsAda(setting, { Authorization: basic('ada', 'lovelace') });
    },
  },
  'key-auth': {
    works: async (setting) => {
      await keyOfAda(setting);
      await knowsAda(setting, keyFor(setting));
    },
  },
  'hmac-auth': {
    works: async (setting) => {
      await setting.write('PUT', '/consumers/ada');
      await setting.write('POST', '/consumers/ada/hmac-auth', { username: 'ada', secret: 'adas-secret' });
      const headers = { date: dateIn(0) };
      const signature = { username: 'ada', secret: 'adas-secret', target: `/${setting.name}/`, headers };
      await knowsAda(setting, { ...headers, Authorization: authorization(signature) });
    },
  },
  jwt: {
    works: async (setting) => {
      await setting.write('PUT', '/consumers/ada');
      const { key: issuer, secret } = await setting.write('POST', '/consumers/ada/jwt');
      const token = tokenOf('HS256', String(secret), { iss: issuer });
      await knowsAda(setting, { Authorization: `Bearer ${token}` });
    },
  },
  oauth2: {
    config: { enable_client_credentials: true },
    works: async (setting) => {
      await setting.write('PUT', '/consumers/ada');
      const client = await setting.write('POST', '/consumers/ada/oauth2', {
        name: 'app',
        redirect_uris: ['https://app.test/'],
      });
      const granted = await setting.askTls('/oauth2/oauth2/token', {
        method: 'POST',
        headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
        body: `grant_type=client_credentials&client_id=${client['client_id']}&client_secret=${client['client_secret']}`,
      });
      assert.equal(granted.status, 200, granted.body);
      await knowsAda(setting, { Authorization: `Bearer ${JSON.parse(granted.body).access_token}` });
    },
  },
  'oauth2-introspection': {
    config: async (setting) => {
      identity = await provider(setting);
      const { id, secret } = clients.machine;
      return {
        introspection_url: `${identity.issuer}/token/introspection`,
        authorization_value: basic(encodeURIComponent(id), encodeURIComponent(secret)),
      };
    },
    works: async ({ ask }) => {
      assert.equal((await ask()).status, 401);
      const token = await identity.clientToken('https://api.example/opaque');
      const answer = await ask('/', { headers: { Authorization: `Bearer ${token}` } });
      assert.equal(echoed(answer).method, 'GET');
    },
  },
  'openid-connect': {
    config: async (setting) => {
      identity = await provider(setting);
      return { issuer: identity.issuer };
    },
    works: async ({ ask }) => {
      assert.equal((await ask()).status, 401);
      const token = await identity.clientToken('https://api.example');
      const answer = await ask('/', { headers: { Authorization: `Bearer ${token}` } });
      assert.equal(echoed(answer).method, 'GET');
    },
  },
  'ldap-auth': {
    skip: skipWithoutSlapd(),
    config: async ({ resources }) => {
      slapd = await startSlapd({ users: { ada: 'lovelace' } });
      resources.defer(() => slapd.stop());
      return { ldap_host: slapd.host, base_dn: slapd.base, attribute: 'uid' };
    },
    // Not the default port of LDAP, 389.
    elsewhere: () => ({ ldap_port: slapd.port }),
    works: async ({ ask }) => {
      assert.equal((await ask()).status, 401);
      const answer = await ask('/', { headers: { Authorization: basic('ada', 'lovelace', 'ldap') } });
      assert.equal(echoed(answer).headers['x-credential-identifier'], 'ada');
    },
  },
  'mtls-auth': {
    config: async ({ write, resources }) => {
      const pki = new TestPki();
      resources.defer(() => pki.close());
      root = pki.root('/CN=Root');
      const { id } = await write('POST', '/ca_certificates', { cert: root.cert });
      return { ca_certificates: [id] };
    },
    works: async ({ write, askTls }) => {
      await write('PUT', '/consumers/ada');
      const { cert, key: own } = root.issue('/CN=ada');
      const { headers } = echoed(await askTls('/mtls-auth', { cert, key: own }));
      assert.equal(headers['x-consumer-username'], 'ada');
      assert.equal((await askTls('/mtls-auth')).status, 401);
    },
  },
  session: {},
  'auth-any': {
    before: async (setting) => {
      await keyOfAda(setting);
      for (const name of ['key-auth', 'basic-auth']) {
        await setting.write('POST', '/services/auth-any/plugins', { name });
      }
    },
    config: { methods: ['key-auth', 'basic-auth'] },
    works: (setting) => knowsAda(setting, keyFor(setting)),
  },
  acl: {
    before: async (setting) => {
      await keyOfAda(setting);
      await setting.write('POST', '/services/acl/plugins', { name: 'key-auth' });
      await setting.write('POST', '/consumers/ada/acls', { group: 'staff' });
    },
    config: { allow: ['staff'] },
    works: (setting) => knowsAda(setting, keyFor(setting)),
  },
  authorization: {
    config: { rules: [{ name: 'everyone' }] },
  },
  'ip-restriction': {
    config: { allow: ['127.0.0.1'] },
  },
  'bot-detection': {
    works: async ({ ask }) => {
      echoed(await ask('/', { headers: { 'User-Agent': 'curl/8.5.0' } }));
    },
  },
};
