import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin, httpProtocols, type Plugin } from '../../src/plugin-sdk/index.ts';
import { record } from '../../src/plugin-sdk/schema.ts';
import { testPlugin } from '../../src/plugin-testing/index.ts';
import authAny from '../../src/plugins/auth-any/index.ts';
import basicAuth from '../../src/plugins/basic-auth/index.ts';
import ldapAuth from '../../src/plugins/ldap-auth/index.ts';
import mtlsAuth from '../../src/plugins/mtls-auth/index.ts';
import oauth2 from '../../src/plugins/oauth2/index.ts';
import introspection from '../../src/plugins/oauth2-introspection/index.ts';
import openId from '../../src/plugins/openid-connect/index.ts';

/*
 * Cases 19 and 24: with several methods (`auth-any`) one is enough. The credentials that a skipped method hides, and the
 * headers that it strips, do not reach the backend because that method was skipped.
 */

/** Accepts every client, before all other methods. */
const session = definePlugin({
  name: 'session',
  version: '1.0.0',
  priority: 1900,
  protocols: httpProtocols,
  schema: { config: record({}) },
  setup: () => ({
    access(context) {
      const ada = { id: '5b0ef6c3-0000-4000-8000-000000000001', username: 'ada', customId: null, tags: [] };
      context.authenticate(ada, { id: 'a', identifier: 'a' });
      return undefined;
    },
  }),
});

/** What the backend receives when this method was skipped. */
async function skipped(
  plugin: Plugin,
  config: Readonly<Record<string, unknown>>,
  headers: Readonly<Record<string, string>>,
  path = '/',
) {
  const methods = ['session', plugin.name];
  const gateway = testPlugin(authAny, { config: { methods }, otherPlugins: [{ plugin: session }, { plugin, config }] });
  const { upstream, consumer, response } = await gateway.request({ path, headers });
  assert.equal(response.status, 200, response.body);
  assert.equal(consumer?.username, 'ada');
  assert.ok(upstream !== null);
  return upstream;
}

const introspected = {
  introspection_url: 'http://127.0.0.1:9/',
  client_id: 'a',
  client_secret: 'b',
  custom_claims_forward: ['email'],
};
const issuer = 'http://127.0.0.1:9';
const browser = {
  issuer,
  auth_methods: ['authorization_code'],
  client_id: ['a'],
  redirect_uri: ['https://app.example/cb'],
};

test('identity headers of a client are stripped when their method was skipped', async () => {
  const claims = ['x-credential-username', 'x-credential-email', 'x-credential-scope'];
  const sent = Object.fromEntries(claims.map((name) => [name, 'root']));
  const asked = await skipped(introspection, introspected, sent);
  for (const name of claims) assert.equal(asked.header(name), null, name);

  const names = { upstream_headers_claims: ['email'], upstream_headers_names: ['X-Email'] };
  const token = { upstream_access_token_header: 'x-token' };
  const identity = await skipped(openId, { issuer, ...names, ...token }, { 'X-Email': 'root', 'X-Token': 'root' });
  assert.equal(identity.header('x-email'), null);
  assert.equal(identity.header('x-token'), null);

  const own = { 'X-Client-Cert-Dn': 'CN=root', X_Client_Cert_San: 'root' };
  const shown = await skipped(mtlsAuth, { ca_certificates: ['11111111-1111-4111-8111-111111111111'] }, own);
  assert.equal(shown.header('x-client-cert-dn'), null);
  assert.equal(shown.header('x_client_cert_san'), null);
});

test('hides credentials from the backend when their method was skipped', async () => {
  const hide = { hide_credentials: true };
  const basic = { Authorization: 'Basic YTpi', 'Proxy-Authorization': 'Basic YTpi' };
  const login = await skipped(basicAuth, hide, basic);
  assert.equal(login.header('authorization'), null);

  const ldap = { ldap_host: '127.0.0.1', base_dn: 'dc=a', attribute: 'uid', ...hide };
  const directory = await skipped(ldapAuth, ldap, { Authorization: 'ldap YTpi' });
  assert.equal(directory.header('authorization'), null);

  const bearer = { Authorization: 'Bearer abc' };
  for (const [plugin, config] of [
    [introspection, { ...introspected, ...hide }],
    [oauth2, { enable_client_credentials: true, ...hide }],
    [openId, { issuer, ...hide }],
  ] as const) {
    const upstream = await skipped(plugin, config, bearer, '/?access_token=abc&b=1');
    assert.equal(upstream.header('authorization'), null, plugin.name);
    if (plugin !== openId) assert.equal(upstream.query, 'b=1', plugin.name);
  }

  const cookies = await skipped(openId, browser, { Cookie: 'session=1.abc; session_2=d; authorization=1.e; mine=1' });
  assert.equal(cookies.header('cookie'), 'mine=1');
});
