import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import { parseHttpDate } from './http-date.ts';
import hmacAuth from './index.ts';
import { parseParameters } from './parameters.ts';
import { authorization, dateIn, digestOf, type Signing } from './sign.fixture.ts';

const alice = { id: '7f6b8c1e-0000-4000-8000-0000000000a1', username: 'alice-c', custom_id: 'a-1', tags: [] };
const guest = { id: '7f6b8c1e-0000-4000-8000-0000000000a2', username: 'guest', custom_id: null, tags: [] };
const consumer = { id: alice.id };
const entities = {
  consumers: [alice, guest],
  hmacauth_credentials: [
    { id: '7f6b8c1e-0000-4000-8000-0000000000b1', consumer, username: 'alice', secret: 'alices-secret' },
    { id: '7f6b8c1e-0000-4000-8000-0000000000b2', consumer, username: 'jürgen', secret: 'schlüssel' },
    { id: '7f6b8c1e-0000-4000-8000-0000000000b3', consumer, username: 'empty', secret: null },
    {
      id: '7f6b8c1e-0000-4000-8000-0000000000b4',
      consumer: { id: '7f6b8c1e-0000-4000-8000-0000000000ff' },
      username: 'orphan',
      secret: 'of-nobody',
    },
  ],
};

const unverifiable = 'HMAC signature cannot be verified';
const mismatch = 'HMAC signature does not match';
const noDate = 'HMAC signature cannot be verified, a valid date or x-date header is required for HMAC Authentication';

function withHmac(config: Readonly<Record<string, unknown>> = {}, more: object = {}) {
  return testPlugin(hmacAuth, { config, entities, ...more });
}

/** Headers of a signed request; the default is a signature over date and request-line. */
function signed(signing: Signing = {}, field = 'authorization'): Record<string, string> {
  const headers = { date: dateIn(0), ...signing.headers };
  return { ...headers, [field]: authorization({ ...signing, headers }) };
}

function messageOf({ response }: { readonly response: { readonly body: string } }): unknown {
  return (JSON.parse(response.body) as Record<string, unknown>)['message'];
}

describe('the configuration of hmac-auth', () => {
  it('has the defaults of Kong', async () => {
    const checked = await withHmac().check({});
    assert.ok(checked.ok);
    assert.deepEqual(
      { ...checked.config },
      {
        hide_credentials: false,
        clock_skew: 300,
        anonymous: null,
        validate_request_body: false,
        enforce_headers: [],
        algorithms: ['hmac-sha1', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512'],
        realm: null,
      },
    );
  });
  it('refuses other algorithms and a clock skew of 0', async () => {
    assert.ok(!(await withHmac().check({ algorithms: ['hmac-md5'] })).ok);
    assert.ok(!(await withHmac().check({ clock_skew: 0 })).ok);
  });
});

for (const slowEntities of [false, true]) {
  describe(`a signed request, with a credential ${slowEntities ? 'looked up in the store' : 'cached'}`, () => {
    const plugin = withHmac({}, { slowEntities });

    for (const algorithm of ['hmac-sha1', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512']) {
      it(`is accepted with ${algorithm}`, async () => {
        const { upstream, response } = await plugin.request({ headers: signed({ algorithm }) });
        assert.equal(response.status, 200);
        assert.equal(upstream?.header('x-consumer-username'), 'alice-c');
        assert.equal(upstream?.header('x-credential-identifier'), 'alice');
        assert.notEqual(upstream?.header('authorization'), null);
      });
    }
    it('is accepted in either header, in either spelling, with parameters in any order', async () => {
      assert.equal((await plugin.request({ headers: signed({}, 'proxy-authorization') })).response.status, 200);
      const both = { ...signed({}, 'proxy-authorization'), authorization: 'Basic eDp5' };
      assert.equal((await plugin.request({ headers: both })).response.status, 200);
      const other = { ...signed(), 'proxy-authorization': 'Basic eDp5' };
      assert.equal((await plugin.request({ headers: other })).response.status, 200);
      const headers = signed();
      const [user, algorithm, names, signature] = headers['authorization']!.slice('hmac '.length).split(', ');
      headers['authorization'] = `Hmac ${signature},${names} , ${algorithm},\t${user}`;
      assert.equal((await plugin.request({ headers })).response.status, 200);
    });
    it('is accepted from a user whose name and secret are not ASCII', async () => {
      const username = Buffer.from('jürgen').toString('latin1');
      const { consumer: who } = await plugin.request({ headers: signed({ username, secret: 'schlüssel' }) });
      assert.equal(who?.username, 'alice-c');
    });
    it('covers method, path, query and every header that it names', async () => {
      const names = ['@request-target', 'host', 'x-date', 'x-none', 'x-thing'];
      const headers = { host: 'test.example', 'x-date': dateIn(10), 'x-thing': 'sch\xfc' };
      const signing = { names, headers, method: 'POST', target: '/a%20b?c=%2F&d' };
      const request = { method: 'POST', path: '/a%20b?c=%2F&d', headers: signed(signing) };
      assert.equal((await plugin.request(request)).response.status, 200);
      const changed = [
        { ...request, method: 'PUT' },
        { ...request, path: '/a%20b?c=/&d' },
        { ...request, path: '/a%20c?c=%2F&d' },
        { ...request, headers: { ...request.headers, 'x-thing': 'other' } },
        { ...request, headers: { ...request.headers, 'x-none': '' } },
        { ...request, headers: { ...request.headers, 'x-date': dateIn(11) } },
      ];
      for (const one of changed) {
        const outcome = await plugin.request(one);
        assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, mismatch], JSON.stringify(one));
        assert.equal(outcome.upstream, null);
      }
    });
    it('is refused for another user or with another secret', async () => {
      const cases: [Signing, string][] = [
        [{ secret: 'other' }, mismatch],
        [{ username: 'jürgen' }, unverifiable],
        [{ username: 'nobody' }, unverifiable],
        [{ username: '__proto__' }, unverifiable],
        [{ username: 'empty', secret: '' }, unverifiable],
        [{ username: 'orphan', secret: 'of-nobody' }, unverifiable],
      ];
      for (const [signing, message] of cases) {
        const outcome = await plugin.request({ headers: signed(signing) });
        assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, message], JSON.stringify(signing));
        assert.equal(outcome.response.header('www-authenticate'), 'hmac');
      }
    });
  });
}

describe('a request with a missing or wrong signature', () => {
  it('gets a challenge for a signature', async () => {
    const outcome = await withHmac({ realm: 'a "b"' }).request({ headers: { date: dateIn(0) } });
    assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, 'Unauthorized']);
    assert.equal(outcome.response.header('www-authenticate'), 'hmac realm="a \\"b\\""');
  });
  it('is refused without a date within the clock skew', async () => {
    const plugin = withHmac({ clock_skew: 60 });
    for (const date of [dateIn(-62), dateIn(62), 'yesterday', '', '0', new Date().toISOString()]) {
      const outcome = await plugin.request({ headers: signed({ headers: { date } }) });
      assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, noDate], date);
    }
    for (const seconds of [-55, 55]) {
      const headers = signed({ headers: { date: dateIn(seconds) } });
      assert.equal((await plugin.request({ headers })).response.status, 200);
    }
  });
  it('is refused when only an unsigned date is recent', async () => {
    const old = signed({ headers: { date: dateIn(-1000) } });
    const outcome = await withHmac().request({ headers: { ...old, 'x-date': dateIn(0) } });
    assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, noDate]);
  });
  it('is refused with two lines of a signed header', async () => {
    const headers = signed({ names: ['date', 'x-thing'], headers: { 'x-thing': 'one' } });
    for (const lines of [
      ['one', 'two'],
      ['two', 'one'],
      ['one', 'one'],
    ]) {
      const outcome = await withHmac().request({ headers: { ...headers, 'x-thing': lines } });
      assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, unverifiable]);
    }
  });
  it('is refused without a required algorithm or header', async () => {
    const plugin = withHmac({ algorithms: ['hmac-sha512'], enforce_headers: ['Date', 'request-line', 'x-thing'] });
    const headers = { 'x-thing': '1' };
    const names = ['x-thing', 'request-line', 'date'];
    const right = signed({ algorithm: 'hmac-sha512', names, headers });
    assert.equal((await plugin.request({ headers: right })).response.status, 200);
    for (const signing of [
      { names, headers },
      { algorithm: 'hmac-sha512', headers },
    ]) {
      assert.equal(messageOf(await plugin.request({ headers: signed(signing) })), unverifiable);
    }
  });
  it('never causes an error when its header is malformed', async () => {
    const plugin = withHmac();
    const right = signed();
    const value = right['authorization']!;
    const broken = [
      'hmac',
      'hmac ',
      'hmac ,',
      'Basic eDp5',
      `HMAC${value.slice(4)}`,
      `${value},`,
      `${value}, ${value.slice(5)}`,
      `${value} x`,
      value.replace('username=', 'user='),
      value.replace('"alice"', '""'),
      value.replace('"alice"', '"a"b"'),
      value.replace('hmac-sha256', 'hmac-md5'),
      value.replace('hmac-sha256', 'HMAC-SHA256'),
      value.replace('date request-line', ''),
      value.replace('date request-line', 'date  request-line'),
      value.replace('date request-line', 'date constructor'),
      value.replace('date request-line', `${'x '.repeat(64)}x`),
      value.replace('date request-line', 'da\u00ffte'),
      value.replace('alice', 'a'.repeat(8192)),
      `hmac ${' '.repeat(7000)}`,
      `hmac ${'username="a",'.repeat(500)}`,
    ];
    for (const authorization of broken) {
      const { response } = await plugin.request({ headers: { ...right, authorization } });
      assert.equal(response.status, 401, authorization.slice(0, 200));
    }
    for (let at = 0; at < value.length; at++) {
      const { response } = await plugin.request({ headers: { ...right, authorization: value.slice(0, at) } });
      assert.equal(response.status, 401, String(at));
    }
    assert.equal((await plugin.request({ headers: { ...right, authorization: [value, value] } })).response.status, 401);
    assert.deepEqual(plugin.logLines, []);
  });
  it('is refused when the signature has another length or is not base64', async () => {
    const right = signed();
    const signature = /signature="(.*)"/.exec(right['authorization']!)![1]!;
    const hex = Buffer.from(signature, 'base64').toString('hex');
    for (const wrong of [
      '=',
      'A',
      'AA',
      `${signature}A`,
      signature.slice(0, -1),
      `${signature}=`,
      hex,
      '*',
      'A'.repeat(5000),
    ]) {
      const authorization = right['authorization']!.replace(signature, wrong);
      const outcome = await withHmac().request({ headers: { ...right, authorization } });
      assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, mismatch], wrong);
    }
  });
});

describe('body validation', () => {
  const plugin = withHmac({ validate_request_body: true });
  const names = ['date', 'request-line', 'digest'];
  const post = (digest: string | null, body: string) => {
    const headers = digest === null ? {} : { digest };
    const request = signed({ method: 'POST', names: digest === null ? names.slice(0, 2) : names, headers });
    return plugin.request({ method: 'POST', headers: request, body });
  };

  it('accepts a body with its digest, and an empty body without one', async () => {
    const { upstream, response } = await post(digestOf('the body'), 'the body');
    assert.deepEqual([response.status, upstream?.header('digest')], [200, digestOf('the body')]);
    assert.equal((await post(null, '')).response.status, 200);
    assert.equal((await post(digestOf(''), '')).response.status, 200);
    assert.equal((await post(digestOf('x').replace('SHA', 'sha'), 'x')).response.status, 200);
  });

  it('refuses a digest that is not signed', async () => {
    const headers = { digest: digestOf('the body') };
    const unsigned = signed({ method: 'POST', names: names.slice(0, 2) });
    for (const body of ['the body', '']) {
      const outcome = await plugin.request({ method: 'POST', headers: { ...unsigned, ...headers }, body });
      assert.equal(outcome.upstream, null);
      assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, 'HMAC signature cannot be verified']);
    }
  });

  it('refuses a wrong or missing digest', async () => {
    for (const digest of [null, digestOf('other'), 'SHA-256=', 'SHA-256', 'MD5=eDp5', `${digestOf('the body')},x=y`]) {
      const outcome = await post(digest, 'the body');
      assert.deepEqual([outcome.response.status, messageOf(outcome)], [401, mismatch], String(digest));
    }
    assert.equal((await post(digestOf('x'), '')).response.status, 401);
  });
  it('reads bodies only of signed requests', () => {
    assert.deepEqual(hmacAuth.needs({ validate_request_body: true }).requestBody, { maxBytes: 8_388_608 });
    assert.equal(hmacAuth.needs({ validate_request_body: false }).requestBody, undefined);
  });
});

describe('credentials that are hidden', () => {
  it('are removed, unlike those of other schemes', async () => {
    const plugin = withHmac({ hide_credentials: true, anonymous: 'guest' });
    const { upstream } = await plugin.request({ headers: signed({}, 'proxy-authorization') });
    assert.equal(upstream?.header('proxy-authorization'), null);
    const other = await plugin.request({ headers: { ...signed(), authorization: 'Basic eDp5' } });
    assert.equal(other.upstream?.header('authorization'), 'Basic eDp5');
    const wrong = await plugin.request({ headers: signed({ secret: 'wrong' }) });
    assert.equal(wrong.upstream?.header('authorization'), null);
  });
});

describe('the anonymous consumer', () => {
  it('is used when the signature is missing or wrong', async () => {
    const plugin = withHmac({ anonymous: guest.id });
    for (const headers of [{}, signed({ secret: 'wrong' }), { ...signed(), date: 'never' }]) {
      const { upstream } = await plugin.request({ headers });
      assert.equal(upstream?.header('x-consumer-username'), 'guest');
      assert.equal(upstream?.header('x-anonymous-consumer'), 'true');
    }
    assert.equal((await plugin.request({ headers: signed() })).consumer?.username, 'alice-c');
  });
});

describe('the parameters', () => {
  it('must be known and occur once', () => {
    const text = 'hmac username="a b\\c", algorithm="hmac-sha1", headers="Date @request-target", signature="s="';
    assert.deepEqual(parseParameters(text), {
      username: 'a b\\c',
      algorithm: 'hmac-sha1',
      headers: ['date', '@request-target'],
      signature: 's=',
    });
    assert.equal(parseParameters(`${text}, realm="x"`), null);
    assert.equal(parseParameters(`${text}, username="b"`), null);
  });
});

describe('dates of HTTP', () => {
  it('are read in all three forms', () => {
    const time = Date.UTC(2026, 10, 6, 8, 49, 37);
    assert.equal(parseHttpDate('Fri, 06 Nov 2026 08:49:37 GMT'), time);
    assert.equal(parseHttpDate('Friday, 06-Nov-26 08:49:37 GMT'), time);
    assert.equal(parseHttpDate('Fri Nov  6 08:49:37 2026'), time);
  });
  it('are refused in any other form', () => {
    for (const text of [
      'Fri, 06 Nov 2026 08:49:37 +0000',
      'Fri, 31 Feb 2026 08:49:37 GMT',
      'Fri, 00 Nov 2026 08:49:37 GMT',
      'Fri, 06 Nov 2026 24:49:37 GMT',
      '2026-11-06T08:49:37Z',
      ' Fri, 06 Nov 2026 08:49:37 GMT',
      '1794559777',
    ]) {
      assert.equal(parseHttpDate(text), null, text);
    }
  });
});
