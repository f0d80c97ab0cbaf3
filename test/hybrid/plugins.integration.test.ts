import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { connect } from 'node:tls';
import { type EchoedRequest, startBackend, type TestBackend } from '../support/backend.ts';
import { skipWithoutDnsServer, startDnsServer } from '../support/dns-server.ts';
import { type ControlPlane, type DataPlane, type HybridRig, startHybridRig } from '../support/hybrid.ts';
import { startProvider } from '../support/oidc-provider.ts';
import { pebbleIdentity, skipWithoutPebble, startPebble } from '../support/pebble.ts';
import { until } from '../support/until.ts';

/** Plugins with state, on two data planes: what one of them stores, the other one uses. */
const timeout = 60_000;
const resources = new AsyncDisposableStack();
let backend: TestBackend;
let rig: HybridRig;
let controlPlane: ControlPlane;
let one: DataPlane;
let other: DataPlane;
let both: readonly DataPlane[] = [];

before(
  async () => {
    backend = await startBackend();
    resources.defer(() => backend.close());
    rig = await startHybridRig();
    resources.defer(() => rig.stop());
    const hashed = { SLUICEGATE_HASH_KEYS: 'on' };
    controlPlane = await rig.controlPlane('cp', hashed);
    const trusted = { ...hashed, KONG_TRUSTED_IPS: '127.0.0.1' };
    [one, other] = await Promise.all([
      rig.dataPlane(controlPlane.address, 'one', trusted),
      rig.dataPlane(controlPlane.address, 'other', trusted),
    ]);
    both = [one, other];
    for (const username of ['ann', 'bob']) await admin('PUT', `/consumers/${username}`, {});
  },
  { timeout },
);
after(() => resources.disposeAsync());

async function admin(method: string, path: string, body?: object): Promise<Readonly<Record<string, unknown>>> {
  const answer = await controlPlane.admin(method, path, body);
  assert.ok(answer.status < 300, `${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}

async function addRoute(name: string, plugin: string, config: object): Promise<void> {
  await admin('PUT', `/services/${name}`, { url: backend.url });
  await admin('PUT', `/services/${name}/routes/${name}`, { paths: [`/${name}`] });
  await admin('POST', `/services/${name}/plugins`, { name: plugin, config });
}

const settled = (): Promise<void> => controlPlane.settled(...both);

test('key-auth with hashed keys', { timeout }, async () => {
  await addRoute('keys', 'key-auth', {});
  const { key, id } = await admin('POST', '/consumers/ann/key-auth', {});
  await settled();
  for (const node of both) {
    assert.equal(await node.statusOf('/keys', { apikey: String(key) }), 200);
    assert.equal(await node.statusOf('/keys', { apikey: 'wrong' }), 401);
  }
  await admin('DELETE', `/consumers/ann/key-auth/${id}`);
  await settled();
  for (const node of both) assert.equal(await node.statusOf('/keys', { apikey: String(key) }), 401);
});

test('oauth2: a token of one data plane is accepted by the other, and no longer when it is deleted', {
  timeout,
}, async () => {
  await addRoute('oauth', 'oauth2', { enable_client_credentials: true, accept_http_if_already_terminated: true });
  const credential = await admin('POST', '/consumers/ann/oauth2', { name: 'app', redirect_uris: ['http://app.test/'] });
  await settled();
  const forwarded = { 'X-Forwarded-Proto': 'https' };
  const answer = await fetch(`${one.proxyUrl}/oauth/oauth2/token`, {
    method: 'POST',
    headers: forwarded,
    body: new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: String(credential['client_id']),
      client_secret: String(credential['client_secret']),
    }),
  });
  const issued = (await answer.json()) as { readonly access_token: string };
  assert.equal(answer.status, 200, JSON.stringify(issued));
  const headers = { ...forwarded, Authorization: `Bearer ${issued.access_token}` };
  for (const node of both) assert.equal(await node.statusOf('/oauth', headers), 200);
  const { data } = await admin('GET', '/oauth2_tokens');
  const [token] = data as readonly { readonly id: string }[];
  await admin('DELETE', `/oauth2_tokens/${token?.id}`);
  await settled();
  for (const node of both) assert.equal(await node.statusOf('/oauth', headers), 401);
});

test('session: what one data plane stores, the other one finds', { timeout }, async () => {
  await addRoute('sessions', 'key-auth', { anonymous: 'guest' });
  await admin('PUT', '/consumers/guest', {});
  await admin('POST', '/services/sessions/plugins', {
    name: 'session',
    config: { storage: 'kong', cookie_secure: false },
  });
  const { key } = await admin('POST', '/consumers/ann/key-auth', {});
  await settled();
  const login = await fetch(`${one.proxyUrl}/sessions`, { headers: { apikey: String(key) } });
  await login.arrayBuffer();
  const cookie = login.headers.getSetCookie()[0]?.split(';')[0] ?? '';
  for (const node of both) {
    const seen = await fetch(`${node.proxyUrl}/sessions`, { headers: { cookie } });
    const echo = (await seen.json()) as EchoedRequest;
    assert.equal(echo.headers['x-consumer-username'], 'ann');
  }
});

test('rate-limiting: the policy cluster counts over both', { timeout }, async () => {
  await addRoute('limited', 'rate-limiting', { hour: 10, policy: 'cluster', limit_by: 'service' });
  await settled();
  const statuses: number[] = [];
  for (let round = 0; round < 15; round++) for (const node of both) statuses.push(await node.statusOf('/limited'));
  const passed = statuses.filter((status) => status === 200).length;
  assert.equal(passed + statuses.filter((status) => status === 429).length, 30);
  assert.ok(passed <= 10, `${passed} of 10 passed`);
  assert.ok(passed >= 8, `${passed} of 10 passed`);
});

test('quotas: counted over both, shown and reset by the control plane', { timeout }, async () => {
  await addRoute('metered', 'key-auth', {});
  await admin('POST', '/services/metered/plugins', { name: 'quotas', config: { day: 5 } });
  const { key } = await admin('POST', '/consumers/bob/key-auth', {});
  await settled();
  const headers = { apikey: String(key) };
  const count = async (): Promise<number> => {
    let passed = 0;
    for (let round = 0; round < 6; round++) {
      for (const node of both) if ((await node.statusOf('/metered', headers)) === 200) passed++;
    }
    return passed;
  };
  const passed = await count();
  assert.ok(passed >= 3 && passed <= 5, `${passed} of 5 passed`);
  const { data } = await admin('GET', '/consumers/bob/quotas');
  const [quota] = data as readonly { readonly used: number; readonly limit: number }[];
  assert.equal(quota?.limit, 5);
  assert.ok((quota?.used ?? 0) >= passed);
  await admin('DELETE', '/consumers/bob/quotas');
  await until(async () => (await one.statusOf('/metered', headers)) === 200);
});

test('analytics: the control plane shows the usage of data planes', { timeout }, async () => {
  const brief = await rig.dataPlane(controlPlane.address, 'brief');
  await addRoute('counted', 'cors', {});
  await controlPlane.settled(brief);
  for (let round = 0; round < 7; round++) assert.equal(await brief.statusOf('/counted'), 200);
  // It stores the rest when it ends.
  brief.child.kill('SIGTERM');
  assert.equal(await brief.exit, 0, brief.output());
  const { data } = await admin('GET', '/analytics/usage?group_by=route&route=counted');
  const [row] = data as readonly { readonly requests: number }[];
  assert.equal(row?.requests, 7, JSON.stringify(data));
});

test('openid-connect: a token of the provider is accepted by both', { timeout }, async () => {
  await using provider = await startProvider();
  const resource = 'https://api.example';
  await addRoute('oidc', 'openid-connect', { issuer: provider.issuer, audience_required: [resource] });
  await settled();
  const headers = { Authorization: `Bearer ${await provider.clientToken(resource)}` };
  for (const node of both) {
    assert.equal(await node.statusOf('/oidc', headers), 200);
    assert.equal(await node.statusOf('/oidc'), 401);
  }
});

test('health that is set on the control plane reaches all data planes', { timeout }, async () => {
  const second = await startBackend({ name: 'second' });
  try {
    await admin('PUT', '/upstreams/pool', { healthchecks: { passive: { unhealthy: { tcp_failures: 3 } } } });
    for (const { port } of [backend, second]) {
      await admin('POST', '/upstreams/pool/targets', { target: `127.0.0.1:${port}` });
    }
    await admin('PUT', '/services/pool', { host: 'pool', protocol: 'http' });
    await admin('PUT', '/services/pool/routes/pool', { paths: ['/pool'] });
    await settled();
    const names = async (node: DataPlane): Promise<number> => {
      const seen = new Set<string>();
      for (let round = 0; round < 10; round++) {
        const answer = await fetch(`${node.proxyUrl}/pool`);
        seen.add(String(((await answer.json()) as EchoedRequest).backend));
      }
      return seen.size;
    };
    for (const node of both) assert.equal(await names(node), 2);
    await admin('PUT', `/upstreams/pool/targets/127.0.0.1:${second.port}/unhealthy`);
    for (const node of both) await until(async () => (await names(node)) === 1);
    await admin('PUT', `/upstreams/pool/targets/127.0.0.1:${second.port}/healthy`);
    for (const node of both) await until(async () => (await names(node)) === 2);
    const answer = await controlPlane.admin('GET', '/upstreams/pool/health');
    assert.equal(answer.status, 400);
    assert.match(String(answer.body['message']), /^a control plane checks no backends/);
  } finally {
    await second.close();
  }
});

test('acl, basic-auth and jwt: credentials that are added later', { timeout }, async () => {
  await addRoute('passwords', 'basic-auth', {});
  await admin('POST', '/services/passwords/plugins', { name: 'acl', config: { allow: ['staff'] } });
  await admin('POST', '/consumers/ann/basic-auth', { username: 'ann', password: 'pass' });
  await settled();
  const headers = { authorization: `Basic ${Buffer.from('ann:pass').toString('base64')}` };
  for (const node of both) assert.equal(await node.statusOf('/passwords', headers), 403);
  await admin('POST', '/consumers/ann/acls', { group: 'staff' });
  await settled();
  for (const node of both) assert.equal(await node.statusOf('/passwords', headers), 200);
});

describe('acme', { skip: skipWithoutPebble() || skipWithoutDnsServer() }, () => {
  test('a data plane orders a certificate, and all of them show it; the control plane lists it', {
    timeout,
  }, async () => {
    await using started = new AsyncDisposableStack();
    const dns = await startDnsServer({ records: ['address=/acme.test/127.0.0.1'] });
    started.defer(() => dns.stop());
    const identity = pebbleIdentity();
    const tls = { KONG_PROXY_LISTEN: '127.0.0.1:0, 127.0.0.1:0 ssl', KONG_LUA_SSL_TRUSTED_CERTIFICATE: identity.cert };
    const [first, second] = await Promise.all([
      rig.dataPlane(controlPlane.address, 'tls-1', tls),
      rig.dataPlane(controlPlane.address, 'tls-2', tls),
    ]);
    const tlsPort = (node: DataPlane): number => Number(/^ {2}proxy .*https:\/\/\S+:(\d+)/m.exec(node.output())?.[1]);
    const pebble = await startPebble({
      identity,
      httpPort: Number(new URL(first.proxyUrl).port),
      tlsPort: tlsPort(first),
      dns: dns.address,
    });
    started.defer(() => pebble.stop());
    await admin('POST', '/plugins', {
      name: 'acme',
      config: {
        account_email: 'ada@acme.test',
        api_uri: pebble.directory,
        tos_accepted: true,
        cert_type: 'ecc',
        domains: ['*.acme.test'],
      },
    });
    await controlPlane.settled(first, second);
    const issuer = async (node: DataPlane): Promise<string> => {
      const socket = connect({
        host: '127.0.0.1',
        port: tlsPort(node),
        servername: 'a.acme.test',
        rejectUnauthorized: false,
      });
      await once(socket, 'secureConnect');
      const { issuer: by } = socket.getPeerCertificate();
      socket.destroy();
      return String(by?.CN);
    };
    await until(async () => (await issuer(second)).startsWith('Pebble'), 30_000);
    await until(async () => (await issuer(first)).startsWith('Pebble'));
    const { data } = await admin('GET', '/acme/certificates');
    assert.equal((data as readonly { readonly host: string }[])[0]?.host, 'a.acme.test');
    assert.equal(pebble.lines.filter((line) => line.includes('Added order ')).length, 1);
  });
});
