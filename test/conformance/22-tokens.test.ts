import assert from 'node:assert/strict';
import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';

/** Case 22: forged, malformed and expired tokens. */
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 });
const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' }).toString();
const secret = 'the-secret-of-alice';

type Part = Readonly<Record<string, unknown>> | string;

function encode(part: Part): string {
  return Buffer.from(typeof part === 'string' ? part : JSON.stringify(part)).toString('base64url');
}

function hs256(payload: Part, key: string | KeyObject = secret, header: Part = { alg: 'HS256', typ: 'JWT' }): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
}

function rs256(payload: Part, key: KeyObject = rsa.privateKey, header: Part = { alg: 'RS256', typ: 'JWT' }): string {
  const signed = `${encode(header)}.${encode(payload)}`;
  return `${signed}.${sign('sha256', Buffer.from(signed), key).toString('base64url')}`;
}

function now(): number {
  return Math.floor(Date.now() / 1000);
}

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

async function ask(rig: Rig, path: string, token: string): Promise<Answer> {
  const before = rig.backend.requests.length;
  const response = await exchangeOne(
    rig.port,
    `GET ${path} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  );
  if (response.status !== 200) assert.equal(rig.backend.requests.length, before, 'a refused request went on');
  return { status: response.status, body: response.status === 200 ? {} : JSON.parse(response.body) };
}

describe('tokens signed with the key of a credential', () => {
  let rig: Rig;
  const status = async (token: string, path = '/'): Promise<number> => (await ask(rig, path, token)).status;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['jwt'] } });
    await rig.write('PUT', '/consumers/alice', {});
    await rig.write('POST', '/consumers/alice/jwt', { key: 'alice', secret });
    await rig.write('POST', '/consumers/alice/jwt', { key: 'rsa', algorithm: 'RS256', rsa_public_key: pem });
    const config = { claims_to_verify: ['exp', 'nbf'] };
    await rig.write('POST', '/routes/all/plugins', { name: 'jwt' });
    await rig.write('PUT', '/services/backend/routes/timed', { paths: ['/timed'], strip_path: false });
    await rig.write('POST', '/routes/timed/plugins', { name: 'jwt', config });
  });
  after(() => rig.close());

  it('are accepted when valid', async () => {
    assert.equal(await status(hs256({ iss: 'alice' })), 200);
    assert.deepEqual(rig.backend.requests.at(-1)?.all('x-consumer-username'), ['alice']);
    assert.equal(await status(rs256({ iss: 'rsa' })), 200);
  });

  it('are refused without a signature, in every spelling of alg none', async () => {
    for (const alg of ['none', 'None', 'NONE', 'nOnE', '', null, undefined, 0, ['HS256'], { a: 1 }]) {
      for (const iss of ['alice', 'rsa']) {
        const unsigned = `${encode({ alg, typ: 'JWT' })}.${encode({ iss })}`;
        assert.equal(await status(`${unsigned}.`), 401);
        assert.equal(await status(unsigned), 401);
        assert.equal(await status(`${unsigned}.${encode('x')}`), 401);
        assert.equal(await status(hs256({ iss }, secret, { alg } as Part)), 401);
      }
    }
  });

  it('are refused when signed by HMAC with the public key as the secret', async () => {
    const forms = [pem, pem.trim(), `${pem}\n`, pem.replaceAll('\n', '\r\n')];
    for (const key of forms) {
      assert.deepEqual(await ask(rig, '/', hs256({ iss: 'rsa' }, key)), {
        status: 401,
        body: { message: 'Invalid algorithm' },
      });
      assert.equal(await status(hs256({ iss: 'rsa' }, key, { alg: 'RS256' })), 401);
    }
    const der = rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('latin1');
    assert.equal(await status(hs256({ iss: 'rsa' }, der)), 401);
    assert.equal(await status(rs256({ iss: 'alice' })), 401);
  });

  it('are checked with the key of the credential even if they bring or link to a key', async () => {
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 });
    const jwk = other.publicKey.export({ format: 'jwk' });
    for (const extra of [
      { jwk },
      { jku: 'http://127.0.0.1:1/' },
      { x5u: 'http://127.0.0.1:1/' },
      { kid: 'rsa' },
      { kid: '../../etc/passwd' },
    ]) {
      assert.equal(await status(rs256({ iss: 'rsa' }, other.privateKey, { alg: 'RS256', ...extra })), 401);
    }
  });

  it('are refused with two issuers, whichever is right', async () => {
    for (const text of [
      '{"iss":"alice","iss":"rsa"}',
      '{"iss":"x","iss":"alice"}',
      '{"iss":"alice","\\u0069ss":"x"}',
    ]) {
      assert.equal(await status(hs256(text)), 401, text);
    }
    assert.equal(await status(hs256({ iss: 'alice' }, secret, '{"alg":"none","alg":"HS256"}')), 401);
  });

  it('are refused when a claim has the wrong type', async () => {
    for (const iss of [1, 0, true, false, null, {}, [], ['alice'], '', 'nobody', '__proto__', 'a'.repeat(5000)]) {
      assert.equal(await status(hs256({ iss })), 401, JSON.stringify(iss));
    }
    for (const text of [
      '[]',
      '"alice"',
      'null',
      '1',
      '',
      '{',
      '{"iss":"alice"',
      '{"iss":"alice"}}',
      '{"iss":"alice"} x',
    ]) {
      assert.equal(await status(hs256(text)), 401, text);
    }
    for (const exp of ['1', `${now() + 60}`, null, {}, [now() + 60], true]) {
      assert.equal(await status(hs256({ iss: 'alice', exp, nbf: 0 }), '/timed'), 401, JSON.stringify(exp));
    }
    // Numbers beyond what a double holds.
    assert.equal(await status(hs256('{"iss":"alice","exp":1e999,"nbf":0}'), '/timed'), 401);
  });

  it('are refused when expired or not yet valid, to the second', async () => {
    const expired = await ask(rig, '/timed', hs256({ iss: 'alice', exp: now() - 1, nbf: 0 }));
    assert.deepEqual(expired, { status: 401, body: { exp: 'token expired' } });
    const early = await ask(rig, '/timed', hs256({ iss: 'alice', exp: now() + 60, nbf: now() + 30 }));
    assert.deepEqual(early, { status: 401, body: { nbf: 'token not valid yet' } });
    assert.equal(await status(hs256({ iss: 'alice', exp: now() + 60, nbf: now() }), '/timed'), 200);
    assert.deepEqual((await ask(rig, '/timed', hs256({ iss: 'alice' }))).body, {
      exp: 'must be a number',
      nbf: 'must be a number',
    });
  });

  it('are refused once expired, even if cached as valid', async () => {
    const token = hs256({ iss: 'alice', exp: now() + 2, nbf: 0 });
    for (let times = 0; times < 3; times++) assert.equal(await status(token, '/timed'), 200);
    await until(async () => (await status(token, '/timed')) === 401);
    assert.deepEqual((await ask(rig, '/timed', token)).body, { exp: 'token expired' });
  });

  it('are refused once their credential, its key or its consumer is deleted, even if cached as valid', async () => {
    await rig.write('PUT', '/consumers/carol', {});
    const make = (key: string) => rig.write('POST', '/consumers/carol/jwt', { key, secret });
    for (const key of ['deleted', 'changed', 'renamed', 'of-a-consumer']) await make(key);
    const token = (iss: string): string => hs256({ iss });
    for (const key of ['deleted', 'changed', 'renamed', 'of-a-consumer']) {
      for (let times = 0; times < 3; times++) assert.equal(await status(token(key)), 200, key);
    }
    await rig.write('DELETE', '/consumers/carol/jwt/deleted');
    assert.equal(await status(token('deleted')), 401);
    await make('deleted');
    assert.equal(await status(token('deleted')), 200);
    await rig.write('PATCH', '/consumers/carol/jwt/changed', { secret: 'another' });
    assert.equal(await status(token('changed')), 401);
    await rig.write('PATCH', '/consumers/carol/jwt/renamed', { algorithm: 'HS512' });
    assert.equal(await status(token('renamed')), 401);
    await rig.write('DELETE', '/consumers/carol');
    assert.equal(await status(token('of-a-consumer')), 401);
  });

  it('are refused when not base64url, padded, or in a non-canonical encoding', async () => {
    const right = hs256({ iss: 'alice' });
    const [header, payload, signature] = right.split('.') as [string, string, string];
    const broken = [
      '.',
      '..',
      '...',
      'a.b.c',
      `${header}.${payload}`,
      `${header}..${signature}`,
      `.${payload}.${signature}`,
      `${right}.`,
      `${right}.${signature}`,
      `${header}=.${payload}.${signature}`,
      `${header}.${payload}=.${signature}`,
      `${right}=`,
      `${header}.${payload}.${signature.slice(0, -1)}${nextCharacter(signature.at(-1)!)}`,
      `${header}.${payload}.+/${signature.slice(2)}`,
      `${header}.${payload}.%41${signature.slice(1)}`,
      `${header}.${payload}. ${signature}`,
      `${header}.\xff${payload}.${signature}`,
      `"${right}"`,
    ];
    for (const token of broken) assert.equal(await status(token), 401, token);
    assert.equal(await status(right), 200);
  });

  it('are refused when the signature has the wrong length', async () => {
    const valid = [hs256({ iss: 'alice' }), rs256({ iss: 'rsa' })];
    for (const token of valid) {
      const dot = token.lastIndexOf('.');
      const bytes = Buffer.from(token.slice(dot + 1), 'base64url');
      for (const length of [0, 1, 2, 31, 33, 64, 128, 255, 257, 512, 4096]) {
        const signature = Buffer.concat([bytes, Buffer.alloc(4096)]).subarray(0, length);
        assert.equal(await status(`${token.slice(0, dot)}.${signature.toString('base64url')}`), 401, String(length));
      }
      for (let at = 0; at < token.length; at += 7) assert.equal(await status(token.slice(0, at) || 'x'), 401);
    }
  });

  it('are refused when an ECDSA signature is zero, out of range, or in DER', async () => {
    const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const key = pair.publicKey.export({ type: 'spki', format: 'pem' });
    await rig.write('POST', '/consumers/alice/jwt', { key: 'ec', algorithm: 'ES256', rsa_public_key: key });
    const signed = `${encode({ alg: 'ES256' })}.${encode({ iss: 'ec' })}`;
    const der = sign('sha256', Buffer.from(signed), pair.privateKey);
    const plain = sign('sha256', Buffer.from(signed), {
      key: createPrivateKey(pair.privateKey.export({ type: 'pkcs8', format: 'pem' })),
      dsaEncoding: 'ieee-p1363',
    });
    assert.equal(await status(`${signed}.${plain.toString('base64url')}`), 200);
    const wrong = [
      der,
      Buffer.alloc(64),
      Buffer.alloc(64, 255),
      Buffer.alloc(63),
      plain.subarray(1),
      Buffer.concat([plain, plain]),
    ];
    for (const signature of wrong) assert.equal(await status(`${signed}.${signature.toString('base64url')}`), 401);
  });

  it('are refused at little cost when huge or deeply nested', async () => {
    const nested = `{"iss":"alice","a":${'['.repeat(2_000)}${']'.repeat(2_000)}}`;
    const many = `{"iss":"alice",${Array.from({ length: 300 }, (_, at) => `"${at}":1`).join(',')}}`;
    assert.equal(await status(hs256(nested)), 401);
    assert.equal(await status(hs256(many)), 200);
    const before = process.cpuUsage();
    const huge = 'a'.repeat(1_000_000);
    for (const head of [
      `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${huge}`,
      `GET /?jwt=${huge} HTTP/1.1\r\nHost: a`,
    ]) {
      const response = await exchangeOne(rig.port, `${head}\r\n\r\n`);
      assert.ok(response.status >= 400 && response.status < 500, String(response.status));
    }
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 500_000, `${(user + system) / 1000} ms`);
    assert.equal(await status(hs256({ iss: 'alice' })), 200);
  });
});

function nextCharacter(character: string): string {
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return alphabet[(alphabet.indexOf(character) + 1) % 64]!;
}

describe('tokens signed with a key of a key set', () => {
  let rig: Rig;
  let server: Server;
  let keys: unknown[] = [];
  let fetches = 0;
  const first = { alg: 'RS256', kid: 'first' };
  const exp = Math.floor(Date.now() / 1000) + 600;
  const status = async (token: string): Promise<number> => (await ask(rig, '/', token)).status;
  const jwkOf = (key: KeyObject, kid: string) => ({ ...key.export({ format: 'jwk' }), kid, use: 'sig' });
  before(async () => {
    keys = [
      { ...jwkOf(rsa.publicKey, 'first'), alg: 'RS256' },
      { kty: 'oct', kid: 'symmetric', k: encode(secret), alg: 'HS256' },
    ];
    server = createServer((_request, response) => {
      fetches++;
      response.setHeader('Content-Type', 'application/json').end(JSON.stringify({ keys }));
    });
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const uri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/jwks`;
    rig = await startRig({ settings: { plugins: ['jwt'], workers: 1 } });
    const config = { jwks_uri: uri, jwks_cooldown: 1 };
    await rig.write('POST', '/routes/all/plugins', { name: 'jwt', config });
  });
  after(async () => {
    await rig.close();
    server.closeAllConnections();
    server.close();
  });

  it('are checked without a fetch for each token', async () => {
    for (let sub = 0; sub < 30; sub++)
      assert.equal(await status(rs256({ sub: `${sub}`, exp }, rsa.privateKey, first)), 200);
    assert.equal(fetches, 1);
  });

  it('are refused without an exp, when expired, and when not yet valid', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const claims of [
      {},
      { exp: null },
      { exp: 'x' },
      { exp: now - 1 },
      { exp, nbf: now + 60 },
      { exp, nbf: 'x' },
    ]) {
      const token = rs256({ sub: 'x', ...claims }, rsa.privateKey, first);
      for (let use = 0; use < 2; use++) assert.equal(await status(token), 401, JSON.stringify(claims));
    }
    for (const sub of ['a\r\nX-Consumer-Username: alice', 'a\n', 7]) {
      assert.equal(await status(rs256({ sub, exp }, rsa.privateKey, first)), 401, JSON.stringify(sub));
    }
  });

  it('are refused with at most one fetch when they name an unknown key, a symmetric key, or no key', async () => {
    const before = fetches;
    const other = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
    const kids = ['unknown', '', '__proto__', 'second', 'FIRST', 1, null, ['first'], {}];
    for (const kid of kids) {
      assert.equal(
        await status(rs256({ sub: 'x', exp }, rsa.privateKey, { alg: 'RS256', kid })),
        401,
        JSON.stringify(kid),
      );
    }
    assert.equal(await status(rs256({ sub: 'x', exp }, other, first)), 401);
    assert.equal(await status(hs256({ sub: 'x', exp }, secret, { alg: 'HS256', kid: 'symmetric' })), 401);
    assert.equal(await status(hs256({ sub: 'x', exp }, pem, { alg: 'HS256', kid: 'first' })), 401);
    assert.equal(await status(`${encode({ alg: 'none', kid: 'first' })}.${encode({ sub: 'x', exp })}.`), 401);
    assert.ok(fetches <= before + 2, `${fetches - before} fetches`);
  });

  it('are accepted when their key is added, and refused when it is removed', async () => {
    const old = rs256({ sub: 'cached', exp }, rsa.privateKey, first);
    assert.equal(await status(old), 200);
    const pair = generateKeyPairSync('rsa', { modulusLength: 2048 });
    keys = [jwkOf(pair.publicKey, 'second')];
    const token = rs256({ sub: 'x', exp }, pair.privateKey, { alg: 'RS256', kid: 'second' });
    await until(async () => (await status(token)) === 200);
    assert.equal(await status(old), 401);
  });
});
