import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { it } from 'node:test';
import { AcmeProblem } from './acme-problem.ts';
import { AcmeServer } from './acme-server.ts';
import { challengeCertificate } from './certificates.ts';
import { issueCertificate, type PublishedChallenge, register } from './issue.ts';

type Answer = { readonly status?: number; readonly headers?: Record<string, string>; readonly body?: unknown } | 'hang';
type Script = Readonly<Record<string, Answer>>;

const host = 'a.example.com';
const account = {
  key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' }),
  url: 'x',
};

/** An ACME server whose responses are replaced by those of a script, by path. */
async function authority(script: Script) {
  const calls: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const path = request.url ?? '';
    calls.push(path);
    request.resume();
    const answer = script[path] ?? good(`http://${request.headers.host}`)[path] ?? { status: 404 };
    if (answer === 'hang') return;
    const { status = 200, headers = {}, body = {} } = answer;
    response.writeHead(status, { 'Replay-Nonce': 'nonce', ...headers });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    base,
    calls,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

function good(base: string): Script {
  const challenge = { type: 'http-01', url: `${base}/challenge`, token: 'token', status: 'pending' };
  return {
    '/dir': { body: { newNonce: `${base}/nonce`, newAccount: `${base}/account`, newOrder: `${base}/order` } },
    '/nonce': { status: 204, body: '' },
    '/account': { status: 201, headers: { Location: `${base}/account/1` } },
    '/order': { status: 201, headers: { Location: `${base}/order/1` }, body: { authorizations: [`${base}/authz`] } },
    '/order/1': { body: { status: 'valid', finalize: `${base}/finalize`, certificate: `${base}/cert` } },
    '/authz': { body: { status: 'pending', challenges: [challenge] } },
    '/challenge': { body: challenge },
    '/finalize': {},
  };
}

async function issue(base: string, signal = AbortSignal.timeout(20_000), shown: PublishedChallenge[] = []) {
  const server = new AcmeServer({ url: `${base}/dir`, ca: null, signal });
  return issueCertificate({
    server,
    account,
    host,
    challengeType: 'http-01',
    keys: { type: 'ecc', rsaBits: 0 },
    preferredChain: null,
    publish: async (challenge) => {
      shown.push(challenge);
      return async () => void shown.pop();
    },
    signal,
  });
}

const authorized: Script = { '/authz': { body: { status: 'valid' } } };
const other = await challengeCertificate(host, 'x.y');
const otherCertificate = other.slice(other.indexOf('-----BEGIN CERT'));
const problem = 'urn:ietf:params:acme:error:';

const cases: readonly [string, Script, RegExp][] = [
  ['that is no ACME server', { '/dir': { body: '<html>' } }, /^malformed: the directory has no newNonce$/],
  [
    'that sends elsewhere by another protocol',
    { '/dir': { body: { newNonce: 'file:///etc/passwd' } } },
    /not a http: URL/,
  ],
  [
    'that gives no nonce',
    { '/nonce': { headers: { 'Replay-Nonce': 'a b' } }, '/dir': dirOnly() },
    /gave no nonce|malformed/,
  ],
  [
    'that likes no nonce',
    { '/order': { status: 400, body: { type: `${problem}badNonce` } } },
    /^badNonce: status 400$/,
  ],
  ['whose answers are endless', { '/order': { status: 201, body: 'x'.repeat(300_000) } }, /larger than 262144 bytes/],
  [
    'whose reasons would be lines of a log',
    {
      '/order': {
        status: 403,
        body: { type: `${problem}rejectedIdentifier`, detail: `no\r\n\u2028{"level":1}${'x'.repeat(5000)}` },
      },
    },
    /^rejectedIdentifier: no \{"level":1\}x{280,300}\.\.\.$/,
  ],
  [
    'whose token is a path',
    { '/authz': { body: { challenges: [{ type: 'http-01', token: '../x' }] } } },
    /token is not base64url/,
  ],
  [
    'that does not offer the challenge',
    { '/authz': { body: { challenges: [{ type: 'dns-01' }] } } },
    /^unsupported: http-01/,
  ],
  ['that forgets the order', { '/order': { status: 201 } }, /the order has no URL/],
  [
    'with an order of no known status',
    { ...authorized, '/order/1': { body: { status: 'odd\n' } } },
    /^refused: its status is odd/,
  ],
  ['that causes no certificate', { ...authorized, '/cert': { body: 'nothing' } }, /holds no certificate/],
  [
    'that gives what is no certificate',
    { ...authorized, '/cert': { body: '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----' } },
    /./,
  ],
  [
    "that gives somebody else's certificate",
    { ...authorized, '/cert': { body: otherCertificate } },
    /not the requested one/,
  ],
];

function dirOnly(): Answer {
  return {
    headers: { 'Replay-Nonce': '' },
    body: { newNonce: 'http://x', newAccount: 'http://x', newOrder: 'ftp://x' },
  };
}

for (const [what, script, message] of cases) {
  it(`an authority ${what} causes no certificate`, async () => {
    await using server = await authority(script);
    await assert.rejects(issue(server.base), (error: Error) => {
      assert.match(error.message, message);
      assert.doesNotMatch(error.message, /[\n\r\u2028]/);
      return true;
    });
    assert.ok(server.calls.length < 30, server.calls.join(' '));
  });
}

it('an authority that stops responding times out, and the challenge is removed', async () => {
  await using server = await authority({ '/challenge': 'hang' });
  const ending = new AbortController();
  const shown: PublishedChallenge[] = [];
  const issuing = issue(server.base, ending.signal, shown);
  while (!server.calls.includes('/challenge')) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(shown.length, 1);
  assert.match(shown[0]?.answer ?? '', /^token\.[A-Za-z0-9_-]{43}$/);
  ending.abort();
  await assert.rejects(issuing, /aborted/);
  assert.deepEqual(shown, []);
});

it('Retry-After of an authority is applied', async () => {
  const busy = {
    status: 429,
    headers: { 'Retry-After': '7200' },
    body: { type: `${problem}rateLimited`, detail: 'slow' },
  };
  await using server = await authority({ '/account': busy });
  const acme = new AcmeServer({ url: `${server.base}/dir`, ca: null, signal: AbortSignal.timeout(20_000) });
  const registering = register(acme, account.key, { email: 'ada@example.com', termsAgreed: true, binding: null });
  await assert.rejects(registering, (error: Error) => {
    assert.ok(error instanceof AcmeProblem);
    assert.deepEqual([error.message, error.retryAfter], ['rateLimited: slow', 7200]);
    return true;
  });
});
