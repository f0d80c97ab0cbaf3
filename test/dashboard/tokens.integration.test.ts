import assert from 'node:assert/strict';
import { generateKeyPairSync, type KeyObject } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import { requestTarget } from '../../dashboard/src/playground/request-target.ts';
import { basicCredentials } from '../../dashboard/src/playground/tokens/credentials.ts';
import { hmacAlgorithms, hmacHeaders } from '../../dashboard/src/playground/tokens/hmac-signature.ts';
import { jwtAlgorithms, signJwt } from '../../dashboard/src/playground/tokens/jwt.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';

/** What the token maker makes is accepted by the plugins, and with one other character it is not. */
describe('tokens of the playground', () => {
  let gateway: TestGateway;
  let backend: TestBackend;
  before(async () => {
    [gateway, backend] = await Promise.all([startTestGateway(), startBackend()]);
    await write('PUT', '/services/backend', { url: backend.url });
    for (const [name, config] of [
      ['key-auth', {}],
      ['basic-auth', {}],
      ['jwt', { claims_to_verify: ['exp', 'nbf'] }],
      ['hmac-auth', { enforce_headers: ['date', 'request-line'], validate_request_body: true }],
    ] as const) {
      await write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false });
      await write('POST', `/routes/${name}/plugins`, { name, config });
    }
    await write('PUT', '/consumers/ann', {});
  });
  after(async () => {
    await gateway.stop();
    await backend.close();
  });

  async function write(method: string, path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const answer = await gateway.admin(method, path, body);
    assert.ok(answer.status < 300, JSON.stringify(answer.body));
    return answer.body;
  }

  async function send(request: object): Promise<number> {
    const { status } = await write('POST', '/explain', request);
    return Number(status);
  }

  /** One other character near the end, which no padding is. */
  function changed(text: string): string {
    const at = text.length - 8;
    return `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;
  }

  async function decides(url: string, headers: Readonly<Record<string, string>>, name: string, body?: string) {
    const request = { url, headers, ...(body === undefined ? {} : { body }) };
    assert.equal(await send(request), 200);
    const wrong = { ...headers, [name]: changed(headers[name] ?? '') };
    assert.equal(await send({ ...request, headers: wrong }), 401);
  }

  test('key-auth and basic-auth', async () => {
    await write('POST', '/consumers/ann/key-auth', { key: 'key-of-ann-12345' });
    await decides('/key-auth', { apikey: 'key-of-ann-12345' }, 'apikey');
    await write('POST', '/consumers/ann/basic-auth', { username: 'ann', password: 'grün:und blau' });
    await decides('/basic-auth', { Authorization: basicCredentials('ann', 'grün:und blau') }, 'Authorization');
    assert.throws(() => basicCredentials('a:b', 'x'), /no colon/);
  });

  for (const algorithm of jwtAlgorithms) {
    test(`jwt ${algorithm}`, async () => {
      const { publicKey, privateKey } = keysOf(algorithm);
      const symmetric = algorithm.startsWith('HS');
      const secret = 'a-secret-of-some-length-for-the-longest-of-all-hashes-0123456789-abc';
      await write('POST', '/consumers/ann/jwt', {
        key: `issuer-${algorithm}`,
        algorithm,
        ...(symmetric ? { secret } : { rsa_public_key: publicKey }),
      });
      const now = Math.floor(Date.now() / 1000);
      const claims = { iss: `issuer-${algorithm}`, nbf: now - 5, exp: now + 60 };
      const key = symmetric ? secret : privateKey;
      const token = await signJwt({ algorithm, key, claims });
      await decides('/jwt', { Authorization: `Bearer ${token}` }, 'Authorization');
      const expired = await signJwt({ algorithm, key, claims: { ...claims, exp: now - 60 } });
      assert.equal(await send({ url: '/jwt', headers: { Authorization: `Bearer ${expired}` } }), 401);
    });
  }

  test('a key of another kind is explained', async () => {
    const { privateKey } = keysOf('RS256');
    await assert.rejects(signJwt({ algorithm: 'ES256', key: privateKey, claims: {} }), /not one for ES256/);
    await assert.rejects(signJwt({ algorithm: 'RS256', key: 'secret', claims: {} }), /PEM/);
    const old = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' });
    await assert.rejects(signJwt({ algorithm: 'RS256', key: String(old), claims: {} }), /openssl pkcs8/);
    await assert.rejects(signJwt({ algorithm: 'HS256', key: '', claims: {} }), /Enter the secret/);
  });

  for (const algorithm of Object.keys(hmacAlgorithms)) {
    test(`hmac-auth ${algorithm}, with and without a body`, async () => {
      const username = `ann-${algorithm}`;
      const secret = 'a-long-random-secret-ü';
      await write('POST', '/consumers/ann/hmac-auth', { username, secret });
      const url = 'http://api.test/hmac-auth/ü?q=ö&r=%20';
      const target = requestTarget(url);
      assert.equal(target, '/hmac-auth/%C3%BC?q=%C3%B6&r=%20');
      const body = '{"name":"Zoë"}';
      const get = await hmacHeaders({ username, secret, algorithm, request: { method: 'GET', target, body: null } });
      assert.equal(get['Digest'], undefined);
      await decides(url, get, 'Authorization');
      const request = { method: 'POST', target, body };
      const signed = await hmacHeaders({ username, secret, algorithm, request });
      await decides(url, signed, 'Authorization', body);
      assert.equal(await send({ url, headers: signed, body: `${body} ` }), 401);
      assert.equal(await send({ url: `${url}1`, headers: signed, body }), 401);
      const date = new Date(Date.now() - 3_600_000);
      const old = await hmacHeaders({ username, secret, algorithm, request, date });
      assert.equal(await send({ url, headers: old, body }), 401);
    });
  }
});

function keysOf(algorithm: string): { readonly publicKey: string; readonly privateKey: string } {
  const { publicKey, privateKey } = pairOf(algorithm);
  return {
    publicKey: String(publicKey.export({ type: 'spki', format: 'pem' })),
    privateKey: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

function pairOf(algorithm: string): { readonly publicKey: KeyObject; readonly privateKey: KeyObject } {
  const curves: Readonly<Record<string, string>> = { ES256: 'P-256', ES384: 'P-384', ES512: 'P-521' };
  const namedCurve = curves[algorithm];
  if (namedCurve !== undefined) return generateKeyPairSync('ec', { namedCurve });
  return algorithm === 'EdDSA' ? generateKeyPairSync('ed25519') : generateKeyPairSync('rsa', { modulusLength: 2048 });
}
