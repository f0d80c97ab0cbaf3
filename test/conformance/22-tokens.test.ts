import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { after, before, describe, it } from 'node:test';
import { encode, type Members, pairFor, signatureOf, tokenOf } from '../../src/plugins/jwt/tokens.fixture.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 22: tokens that nobody signed, that are not meant for us, or that are no tokens. */
const rsa = pairFor('RS256');
const secret = 'the secret of alice';

describe('tokens', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['jwt'] } });
    await rig.write('PUT', '/consumers/alice', {});
    await rig.write('POST', '/consumers/alice/jwt', { key: 'rsa', algorithm: 'RS256', rsa_public_key: rsa.pem });
    await rig.write('POST', '/consumers/alice/jwt', { key: 'hmac', secret });
    await rig.write('POST', '/routes/all/plugins', {
      name: 'jwt',
      config: { claims_to_verify: ['exp'], key_claim_name: 'iss' },
    });
  });
  after(() => rig.close());

  const later = (): number => Math.floor(Date.now() / 1000) + 600;
  const send = (token: string) =>
    exchangeOne(rig.port, `GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${token}\r\n\r\n`);

  async function refused(token: string, message: string | RegExp): Promise<void> {
    const seen = rig.backend.requests.length;
    const answer = await send(token);
    assert.equal(answer.status, 401, answer.body);
    assert.match(answer.body, typeof message === 'string' ? new RegExp(`^\\{"message":"${message}"\\}$`) : message);
    assert.equal(rig.backend.requests.length, seen);
  }

  it('good ones pass', async () => {
    assert.equal((await send(tokenOf('RS256', rsa.privateKey, { iss: 'rsa', exp: later() }))).status, 200);
    assert.equal((await send(tokenOf('HS256', secret, { iss: 'hmac', exp: later() }))).status, 200);
  });

  it('alg none, in any spelling, with and without a signature', async () => {
    for (const alg of ['none', 'None', 'NONE', '', null, 5, ['RS256'], { a: 1 }]) {
      for (const signature of ['', encode('x')]) {
        await refused(
          `${encode({ alg, typ: 'JWT' })}.${encode({ iss: 'rsa', exp: later() })}.${signature}`,
          'Bad token; invalid alg',
        );
      }
    }
  });

  it('HS256 signed with the RSA public key', async () => {
    for (const key of [
      rsa.pem,
      rsa.pem.trim(),
      rsa.publicKey.export({ type: 'spki', format: 'der' }).toString('latin1'),
    ]) {
      await refused(tokenOf('HS256', key, { iss: 'rsa', exp: later() }), 'Invalid algorithm');
    }
  });

  it('an algorithm of the same family that the credential does not name', async () => {
    await refused(tokenOf('RS512', rsa.privateKey, { iss: 'rsa', exp: later() }), 'Invalid algorithm');
    await refused(tokenOf('PS256', rsa.privateKey, { iss: 'rsa', exp: later() }), 'Invalid algorithm');
    await refused(tokenOf('HS512', secret, { iss: 'hmac', exp: later() }), 'Invalid algorithm');
  });

  it('a key id, a key or an address of keys in the header decides nothing', async () => {
    const other = pairFor('RS256');
    const header: Members = {
      kid: '../../dev/null',
      jwk: other.publicKey.export({ format: 'jwk' }),
      jku: 'http://127.0.0.1:1/keys',
      x5c: ['AAAA'],
    };
    await refused(tokenOf('RS256', other.privateKey, { iss: 'rsa', exp: later() }, header), 'Invalid signature');
    assert.equal((await send(tokenOf('RS256', rsa.privateKey, { iss: 'rsa', exp: later() }, header))).status, 200);
  });

  it('an issuer that is there twice, in either order', async () => {
    for (const payload of [
      `{"iss":"hmac","exp":${later()},"iss":"rsa"}`,
      `{"iss":"rsa","exp":${later()},"iss":"hmac"}`,
      `{"iss":"rsa","exp":${later()},"\\u0069ss":"hmac"}`,
    ]) {
      await refused(tokenOf('RS256', rsa.privateKey, payload), 'Bad token; invalid JSON');
      await refused(tokenOf('HS256', secret, payload), 'Bad token; invalid JSON');
    }
  });

  it('one that has expired a second ago, or is not yet valid', async () => {
    const now = Math.floor(Date.now() / 1000);
    await refused(tokenOf('HS256', secret, { iss: 'hmac', exp: now - 1 }), /^\{"exp":"token expired"\}$/);
    await refused(tokenOf('HS256', secret, { iss: 'hmac', exp: now }), /^\{"exp":"token expired"\}$/);
    await refused(tokenOf('HS256', secret, { iss: 'hmac' }), /^\{"exp":"must be a number"\}$/);
    await refused(tokenOf('HS256', secret, { iss: 'hmac', exp: `${later()}` }), /^\{"exp":"must be a number"\}$/);
  });

  it('an issuer that is no text', async () => {
    for (const iss of [1, true, ['rsa'], { a: 1 }]) {
      await refused(tokenOf('RS256', rsa.privateKey, { iss, exp: later() }), "Invalid 'iss' in claims");
    }
  });

  it('what is no token at all', async () => {
    const good = tokenOf('HS256', secret, { iss: 'hmac', exp: later() });
    const [head = '', body = '', signature = ''] = good.split('.');
    const wrong = 'Bad token; invalid JSON';
    for (const token of ['x', '.', '..', 'a.b', `${head}.${body}`, `${head}..${signature}`, `.${body}.${signature}`]) {
      await refused(token, wrong);
    }
    for (const part of [
      `${head}=`,
      `${head}+`,
      `${head}/`,
      `${head} `,
      encode('[]'),
      encode('"x"'),
      encode('null'),
      encode('{"alg":"HS256"'),
    ]) {
      await refused(
        `${part}.${body}.${signature}`,
        /^\{"message":"(Bad token; invalid (JSON|alg)|Invalid signature)"\}$/,
      );
    }
    await refused(`${head}.${encode('[1,2]')}.${signature}`, wrong);
    await refused(`${head}.${Buffer.from([0x7b, 0xff, 0x7d]).toString('base64url')}.${signature}`, wrong);
    await refused(`${head}.${encode(`{"iss":${'['.repeat(1000)}`)}.${signature}`, wrong);
    await refused(`${head}.${body}.`, 'Bad token; invalid signature');
    await refused(`${head}.${body}.${signature}.${signature}`, 'Bad token; invalid signature');
    await refused(`${head}.${body}.***`, 'Bad token; invalid signature');
  });

  it('signatures of every length', async () => {
    const signed = `${encode({ alg: 'RS256' })}.${encode({ iss: 'rsa', exp: later() })}`;
    const right = signatureOf('RS256', rsa.privateKey, signed);
    for (let length = 1; length < 300; length += 7) {
      const bytes = Buffer.alloc(length, 1);
      right.copy(bytes);
      if (length !== right.length) await refused(`${signed}.${bytes.toString('base64url')}`, 'Invalid signature');
    }
  });

  it('bits that base64 does not read', async () => {
    const signed = `${encode({ alg: 'HS256' })}.${encode({ iss: 'hmac', exp: later() })}`;
    const mac = createHmac('sha256', secret).update(signed).digest('base64url');
    assert.equal((await send(`${signed}.${mac}`)).status, 200);
    const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
    const last = alphabet.indexOf(mac.at(-1) ?? '');
    await refused(`${signed}.${mac.slice(0, -1)}${alphabet[last ^ 1]}`, 'Bad token; invalid signature');
  });

  it('an extension that has to be understood', async () => {
    const crit = tokenOf('HS256', secret, { iss: 'hmac', exp: later() }, { crit: ['b64'], b64: false });
    await refused(crit, 'Bad token; invalid alg');
  });

  it('a token of a megabyte is not even decoded', async () => {
    const token = tokenOf('HS256', secret, { iss: 'hmac', exp: later(), x: 'y'.repeat(20_000) });
    assert.equal((await send(token)).status, 200);
    const target = `/?jwt=${'a'.repeat(1_000_000)}`;
    const long = await exchangeOne(rig.port, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`);
    assert.ok([400, 401, 414].includes(long.status), String(long.status));
  });

  it('one that was accepted, when its credential or consumer is gone', async () => {
    await rig.write('PUT', '/consumers/bob', {});
    const { body } = await rig.gateway.admin('POST', '/consumers/bob/jwt', { key: 'bob', secret: 'bobs' });
    const token = tokenOf('HS256', 'bobs', { iss: 'bob', exp: later() });
    assert.equal((await send(token)).status, 200);
    assert.equal((await rig.gateway.admin('PATCH', `/jwts/${String(body['id'])}`, { secret: 'other' })).status, 200);
    await refused(token, 'Invalid signature');
    assert.equal((await rig.gateway.admin('PATCH', `/jwts/${String(body['id'])}`, { secret: 'bobs' })).status, 200);
    assert.equal((await send(token)).status, 200);
    assert.equal((await rig.gateway.admin('DELETE', `/jwts/${String(body['id'])}`)).status, 204);
    await refused(token, "No credentials found for given 'iss'");
    await rig.gateway.admin('POST', '/consumers/bob/jwt', { key: 'bob', secret: 'bobs' });
    assert.equal((await send(token)).status, 200);
    await rig.gateway.admin('DELETE', '/consumers/bob');
    await refused(token, "No credentials found for given 'iss'");
  });

  it('one that was accepted, when it expires', async () => {
    const exp = Math.floor(Date.now() / 1000) + 2;
    const token = tokenOf('HS256', secret, { iss: 'hmac', exp });
    assert.equal((await send(token)).status, 200);
    while (Date.now() < exp * 1000) await new Promise((resolve) => setTimeout(resolve, 50));
    await refused(token, /^\{"exp":"token expired"\}$/);
  });
});

describe('credentials of tokens, in the Admin API', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { plugins: ['jwt'] } });
    await rig.write('PUT', '/consumers/alice', {});
  });
  after(() => rig.close());

  it('key and secret are made when they are not given', async () => {
    const { status, body } = await rig.gateway.admin('POST', '/consumers/alice/jwt', {});
    assert.equal(status, 201);
    assert.match(String(body['key']), /^[A-Za-z0-9]{32}$/);
    assert.match(String(body['secret']), /^[A-Za-z0-9]{32}$/);
    assert.equal(body['algorithm'], 'HS256');
  });

  it('a public key is needed where it is, and must fit', async () => {
    const add = (fields: Members) => rig.gateway.admin('POST', '/consumers/alice/jwt', fields);
    assert.equal((await add({ algorithm: 'RS256' })).status, 400);
    const rubbish = await add({ algorithm: 'RS256', rsa_public_key: 'rubbish' });
    assert.equal(rubbish.status, 400);
    assert.match(String(rubbish.body['message']), /rsa_public_key: invalid key/);
    assert.equal((await add({ algorithm: 'ES256', rsa_public_key: rsa.pem })).status, 400);
    assert.equal((await add({ algorithm: 'none' })).status, 400);
    assert.equal((await add({ algorithm: 'ES384', rsa_public_key: pairFor('ES384').pem })).status, 201);
  });
});
