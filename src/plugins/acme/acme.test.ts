import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { PluginTools } from '../../plugin-sdk/index.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import { challengeCertificate } from './certificates.ts';
import { domainMatcher, isCertifiable } from './domains.ts';
import { manageCertificates } from './handler.ts';
import acme from './index.ts';
import type { AcmeConfig } from './schema.ts';

const config = { account_email: 'ada@example.com', tos_accepted: true, domains: ['example.com', '*.example.com'] };
const challenge = {
  id: '7f6b8c1e-0000-4000-8000-0000000000aa',
  created_at: 1,
  expires_at: null,
  type: 'http-01',
  host: 'a.example.com',
  token: 'known-token',
  answer: 'known-token.thumbprint',
};

describe('configuration', () => {
  const terms = 'terms of service must be accepted, see https://letsencrypt.org/repository/';
  const cases: readonly [string, object, RegExp][] = [
    ['no address', { account_email: undefined }, /account_email: required field missing/],
    ['an address that is none', { account_email: 'ada' }, /account_email/],
    ['an address with a second one', { account_email: 'ada@a.test,eve@b.test' }, /account_email/],
    ['terms that are not agreed to', { tos_accepted: false }, new RegExp(terms.replaceAll('.', '\\.'))],
    ['half a binding', { eab_kid: 'kid' }, /eab_hmac_key/],
    ['a store that is elsewhere', { storage: 'redis' }, /storage: 'redis' is not supported: use 'kong'/],
    ['a key of its own', { account_key: { key_id: 'x' } }, /account_key: not supported/],
    ['a size of key that is not safe', { rsa_key_size: 1024 }, /rsa_key_size/],
    ['a domain with two wildcards', { domains: ['*.*.example.com'] }, /domains/],
  ];
  for (const [what, change, message] of cases) {
    it(`${what} is refused`, async () => {
      const answer = await testPlugin(acme).check({ ...config, ...change });
      assert.equal(answer.ok, false);
      assert.match(answer.ok ? '' : answer.message, message);
    });
  }

  it('accepts what Kong shows as its default, with the deprecated names', async () => {
    const storage_config = { redis: { auth: 'x', namespace: 'n' }, shm: { shm_name: 'kong' }, kong: {} };
    for (const storage of ['kong', 'shm']) {
      const answer = await testPlugin(acme).check({ ...config, storage, storage_config });
      assert.equal(answer.ok, true, JSON.stringify(answer));
    }
  });

  it("Let's Encrypt is the default, and other authorities need no agreement", async () => {
    const answer = await testPlugin(acme).check({ ...config, tos_accepted: false, api_uri: 'https://ca.test/dir' });
    assert.equal(answer.ok, true);
  });
});

describe('domains', () => {
  it('wildcards match every name below, and no other', () => {
    const allows = domainMatcher({ domains: ['Example.com', '*.a.test', 'b.*'], allow_any_domain: false });
    const names = [
      'example.com',
      'x.example.com',
      'a.test',
      'x.a.test',
      'y.x.a.test',
      'xa.test',
      'b.org',
      'b.',
      'cb.org',
    ];
    assert.deepEqual(names.filter(allows), ['example.com', 'x.a.test', 'y.x.a.test', 'b.org']);
    assert.equal(domainMatcher({ domains: null, allow_any_domain: null })('example.com'), false);
    assert.equal(domainMatcher({ domains: null, allow_any_domain: true })('example.com'), true);
  });

  it('names that cannot have a certificate are refused', () => {
    const long = `${'a'.repeat(63)}.`.repeat(4);
    const names = [
      'a.test',
      'localhost',
      '10.0.0.1',
      'a_b.test',
      '-a.test',
      'a..test',
      '',
      `${long}test`,
      '*.a.test',
      'é.test',
    ];
    assert.deepEqual(names.filter(isCertifiable), ['a.test']);
    assert.equal(isCertifiable('xn--9ca.test'), true);
  });
});

describe('a request for a challenge', () => {
  for (const slowEntities of [false, true]) {
    const test = () => testPlugin(acme, { config, slowEntities, entities: { acme_challenges: [challenge] } });

    it(`is answered ${slowEntities ? 'after the store has responded' : 'at once'}`, async () => {
      const { response, upstream } = await test().request({ path: '/.well-known/acme-challenge/known-token' });
      assert.deepEqual([response.status, response.body], [200, 'known-token.thumbprint']);
      assert.equal(upstream, null);
    });

    it(`with an unknown token is refused for allowed hosts (${slowEntities})`, async () => {
      for (const token of ['other', '', 'known-token/', 'known-toke', 'known-token%2f']) {
        const path = `/.well-known/acme-challenge/${token}`;
        const allowed = await test().request({ path, headers: { Host: 'a.example.com' } });
        assert.deepEqual([allowed.response.status, allowed.response.body], [404, '{"message":"Not found"}'], token);
        const theirs = await test().request({ path, headers: { Host: 'a.other.test' } });
        assert.notEqual(theirs.upstream, null);
      }
    });
  }

  it('is only a GET of that path', async () => {
    const test = testPlugin(acme, { config, entities: { acme_challenges: [challenge] } });
    for (const request of [
      { path: '/.well-known/acme-challenge/known-token', method: 'POST' },
      { path: '/x/.well-known/acme-challenge/known-token' },
      { path: '/' },
    ]) {
      assert.notEqual((await test.request(request)).upstream, null);
    }
  });
});

describe('a handshake', () => {
  function rig(rows: readonly object[] = [], domains: readonly string[] | null = config.domains, any = false) {
    const sent: string[] = [];
    const tools = {
      background: async (message: { host: string }) => sent.push(message.host),
      entities: { list: () => rows },
    } as unknown as PluginTools;
    const { certificate } = manageCertificates(
      { ...config, domains, allow_any_domain: any } as unknown as AcmeConfig,
      tools,
    );
    const shake = (serverName: string, hasCertificate = false, isChallenge = false, clientIp = '192.0.2.1') =>
      certificate?.({ serverName, hasCertificate, challenge: isChallenge, clientIp });
    return { sent, shake };
  }

  it('for an allowed host without a certificate requests one, once', () => {
    const { sent, shake } = rig();
    for (const name of ['a.example.com', 'a.example.com', 'b.other.test', '10.0.0.1', 'x_y.example.com']) {
      assert.equal(shake(name), null);
    }
    shake('b.example.com', true);
    assert.deepEqual(sent, ['a.example.com']);
  });

  it('with arbitrary names requests only a few', () => {
    const { sent, shake } = rig([], null, true);
    const begin = performance.now();
    for (let at = 0; at < 5000; at++) shake(`n${at}.test`, false, false, `192.0.2.${at % 250}`);
    const seconds = Math.floor((performance.now() - begin) / 1000) + 2;
    assert.ok(sent.length <= 10 * seconds, String(sent.length));
  });

  it('of a client that uses many names leaves room for other clients', () => {
    const { sent, shake } = rig([], null, true);
    for (let at = 0; at < 5000; at++) shake(`n${at}.test`, false, false, `2001:db8::${at.toString(16)}`);
    shake('wanted.test', false, false, '192.0.2.2');
    assert.ok(sent.includes('wanted.test'));
  });

  it('for a challenge gets its certificate, and no other', async () => {
    const answer = await challengeCertificate('a.example.com', 'x.y');
    const { sent, shake } = rig([{ ...challenge, type: 'tls-alpn-01', answer }]);
    assert.notEqual(shake('a.example.com', true, true), null);
    assert.equal(shake('a.example.com', true, true), shake('a.example.com', false, true));
    assert.equal(shake('b.example.com', true, true), null);
    assert.deepEqual(sent, []);
  });
});
