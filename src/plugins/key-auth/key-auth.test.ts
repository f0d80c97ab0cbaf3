import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { gzipSync } from 'node:zlib';
import { definePlugin, httpProtocols } from '../../plugin-sdk/index.ts';
import { record } from '../../plugin-sdk/schema.ts';
import { testPlugin } from '../../plugin-testing/index.ts';
import { hashKey } from './hash-key.ts';
import keyAuth from './index.ts';

const alice = { id: '7f6b8c1e-0000-4000-8000-0000000000a1', username: 'alice', custom_id: 'a-1', tags: [] };
const guest = { id: '7f6b8c1e-0000-4000-8000-0000000000a2', username: 'guest', custom_id: null, tags: [] };
const credentialId = '7f6b8c1e-0000-4000-8000-0000000000b1';
const hashedId = '7f6b8c1e-0000-4000-8000-0000000000b2';
const hashed = 'a-key-that-is-stored-hashed';
const entities = {
  consumers: [alice, guest],
  keyauth_credentials: [
    { id: credentialId, consumer: { id: alice.id }, key: 'secret-1', key_hash: hashKey('secret-1') },
    { id: hashedId, consumer: { id: alice.id }, key: null, key_hash: hashKey(hashed), key_prefix: 'a-key-' },
    { consumer: { id: alice.id }, key: 'schlüssel' },
    { consumer: { id: alice.id }, key: 'expired', expires_at: Date.now() - 1 },
    { consumer: { id: '7f6b8c1e-0000-4000-8000-0000000000ff' }, key: 'orphan' },
  ],
};

function withKeys(config: Readonly<Record<string, unknown>> = {}, more: object = {}) {
  return testPlugin(keyAuth, { config, entities, ...more });
}

function messageOf({ body }: { readonly body: string }): unknown {
  return (JSON.parse(body) as Record<string, unknown>)['message'];
}

const form = { 'Content-Type': 'application/x-www-form-urlencoded' };
const json = { 'Content-Type': 'application/json' };

describe('the configuration of key-auth', () => {
  it('has the defaults of Kong', async () => {
    const checked = await withKeys().check({});
    assert.ok(checked.ok);
    assert.deepEqual(
      { ...checked.config },
      {
        key_names: ['apikey'],
        hide_credentials: false,
        anonymous: null,
        key_in_header: true,
        key_in_query: true,
        key_in_body: false,
        run_on_preflight: true,
        realm: null,
      },
    );
  });
  it('accepts only valid header names', async () => {
    const checked = await withKeys().check({ key_names: ['api key'] });
    assert.ok(!checked.ok);
    assert.match(checked.message, /key_names/);
  });
});

for (const slowEntities of [false, true]) {
  describe(`a key, ${slowEntities ? 'looked up in the store' : 'cached'}`, () => {
    const plugin = withKeys({}, { slowEntities });

    it('in the header identifies the consumer to the backend', async () => {
      const { upstream, consumer, response } = await plugin.request({ headers: { APIKEY: ' secret-1 ' } });
      assert.equal(response.status, 200);
      assert.equal(consumer?.username, 'alice');
      assert.equal(upstream?.header('x-consumer-id'), alice.id);
      assert.equal(upstream?.header('x-consumer-username'), 'alice');
      assert.equal(upstream?.header('x-consumer-custom-id'), 'a-1');
      assert.equal(upstream?.header('x-credential-identifier'), credentialId);
      assert.equal(upstream?.header('x-anonymous-consumer'), null);
      assert.equal(upstream?.header('apikey'), 'secret-1');
    });
    it('is accepted in the query, escaped or not', async () => {
      for (const path of ['/?apikey=secret-1', '/?a=1&%61pikey=secret%2D1', '/?apikey=schl%C3%BCssel']) {
        assert.equal((await plugin.request({ path })).consumer?.username, 'alice', path);
      }
    });
    it('beyond ASCII is read as UTF-8', async () => {
      const bytes = Buffer.from('schlüssel').toString('latin1');
      assert.equal((await plugin.request({ headers: { apikey: bytes } })).consumer?.username, 'alice');
    });
    it('is refused when unknown, expired or without a consumer', async () => {
      for (const apikey of ['wrong', 'secret-', 'secret-11', 'SECRET-1', 'expired', 'orphan', '__proto__', 'null']) {
        const { response, upstream } = await plugin.request({ headers: { apikey } });
        assert.equal(upstream, null);
        assert.equal(response.status, 401, apikey);
        assert.equal(response.header('www-authenticate'), 'Key');
        assert.equal(messageOf(response), 'Unauthorized');
      }
    });
    it('stored hashed is found by the key, not by its hash', async () => {
      assert.equal(
        (await plugin.request({ headers: { apikey: hashed } })).upstream?.header('x-credential-identifier'),
        hashedId,
      );
      assert.equal((await plugin.request({ headers: { apikey: hashKey(hashed) } })).response.status, 401);
    });
  });
}

describe('a request to key-auth', () => {
  it('without a key is refused', async () => {
    const requests = [
      {},
      { headers: { apikey: '' } },
      { path: '/?apikey' },
      { path: '/?apikey=' },
      { path: '/?APIKEY=secret-1' },
    ];
    for (const request of requests) {
      const { response } = await withKeys().request(request);
      assert.equal(response.status, 401, JSON.stringify(request));
      assert.equal(messageOf(response), 'No API key found in request');
    }
  });
  it('gets the configured realm in the challenge', async () => {
    const { response } = await withKeys({ realm: 'a "b"\\' }).request();
    assert.equal(response.header('www-authenticate'), 'Key realm="a \\"b\\"\\\\"');
  });
  it('is refused when the key name occurs twice', async () => {
    const requests = [
      { headers: { apikey: ['secret-1', 'secret-1'] } },
      { path: '/?apikey=secret-1&apikey=secret-1' },
      { path: '/?apikey=secret-1&apike%79=x' },
    ];
    for (const request of requests) {
      const { response } = await withKeys().request(request);
      assert.deepEqual([response.status, messageOf(response)], [401, 'Duplicate API key found']);
    }
  });
  it('uses the key in the header before the query', async () => {
    const right = await withKeys().request({ path: '/?apikey=wrong', headers: { apikey: 'secret-1' } });
    const wrong = await withKeys().request({ path: '/?apikey=secret-1', headers: { apikey: 'wrong' } });
    assert.deepEqual([right.response.status, wrong.response.status], [200, 401]);
  });
  it('is searched for each key name in order', async () => {
    const plugin = withKeys({ key_names: ['x-first', 'x-second'] });
    const found = await plugin.request({ path: '/?x-first=secret-1', headers: { 'X-Second': 'wrong' } });
    assert.equal(found.response.status, 200);
    assert.equal((await plugin.request({ headers: { 'X-Second': 'secret-1' } })).response.status, 200);
  });
  it('may contain the key only in configured places', async () => {
    const body = 'apikey=secret-1';
    const post = { method: 'POST', headers: form, body };
    assert.equal(
      (await withKeys({ key_in_header: false }).request({ headers: { apikey: 'secret-1' } })).response.status,
      401,
    );
    assert.equal((await withKeys({ key_in_query: false }).request({ path: '/?apikey=secret-1' })).response.status, 401);
    assert.equal((await withKeys().request(post)).response.status, 401);
    assert.equal((await withKeys({ key_in_body: true }).request(post)).response.status, 200);
  });
});

describe('a key in the body', () => {
  const plugin = withKeys({ key_in_body: true });
  const post = (headers: Record<string, string>, body: string) => plugin.request({ method: 'POST', headers, body });

  it('is found in forms and in JSON', async () => {
    const part = '--b\r\nContent-Disposition: form-data; name="apikey"\r\n\r\nsecret-1\r\n--b--\r\n';
    assert.equal((await post(form, 'a=1&apikey=secret-1')).response.status, 200);
    assert.equal((await post(json, '{"apikey":"secret-1"}')).response.status, 200);
    assert.equal((await post({ 'Content-Type': 'multipart/form-data; boundary=b' }, part)).response.status, 200);
  });
  it('is ignored when the body cannot be parsed', async () => {
    const bodies: [Record<string, string>, string][] = [
      [json, '{"apikey":"secret-1"'],
      [json, '{"apikey":["secret-1"]}'],
      [json, '["apikey","secret-1"]'],
      [form, ''],
      [{ 'Content-Type': 'text/plain' }, 'apikey=secret-1'],
    ];
    for (const [headers, body] of bodies) {
      const { response } = await post(headers, body);
      assert.deepEqual([response.status, messageOf(response)], [401, 'No API key found in request'], body);
    }
  });
  it('is refused when it occurs twice, also in JSON', async () => {
    for (const [headers, body] of [
      [form, 'apikey=secret-1&apikey=x'],
      [json, '{"apikey":"x","apike\\u0079":"secret-1"}'],
    ] as const) {
      assert.equal(messageOf((await post(headers, body)).response), 'Duplicate API key found');
    }
  });
});

describe('a key that is hidden', () => {
  const config = { hide_credentials: true, key_in_body: true, key_names: ['apikey', 'api_key'] };

  it('is removed from header and query without other changes', async () => {
    const { upstream } = await withKeys(config).request({
      path: '/?a=%41+b&apikey=x&&%61pikey=y&c=%zz&api_key',
      headers: { apikey: 'secret-1', 'Api-Key': 'z', 'X-Other': '1' },
    });
    assert.equal(upstream?.query, 'a=%41+b&&c=%zz');
    assert.equal(upstream?.header('apikey'), null);
    assert.equal(upstream?.header('api-key'), null);
    assert.equal(upstream?.header('x-other'), '1');
  });
  it('is removed from the body, even if it was found elsewhere', async () => {
    const plugin = withKeys(config);
    const bodies: [Record<string, string>, string, string][] = [
      [form, 'a=%41&apikey=secret-1&b', 'a=%41&b'],
      [json, '{"n": 1.00, "apikey":"secret-1"}', '{"n": 1.00}'],
      [{ ...form, apikey: 'secret-1' }, 'apikey=x&a=1', 'a=1'],
    ];
    for (const [headers, body, expected] of bodies) {
      const { upstream, response } = await plugin.request({ method: 'POST', headers, body });
      assert.equal(response.status, 200);
      assert.equal(upstream?.body, expected);
    }
  });
  it('is removed from the body, even if another plugin authenticated the client', async () => {
    const door = definePlugin({
      name: 'door',
      version: '1.0.0',
      priority: 1500,
      protocols: httpProtocols,
      schema: { config: record({}) },
      setup: () => ({
        access(context) {
          context.authenticate(null, { id: 'a', identifier: 'a' });
          return undefined;
        },
      }),
    });
    const plugin = withKeys({ ...config, anonymous: 'guest' }, { otherPlugins: [{ plugin: door }] });
    const { upstream } = await plugin.request({ method: 'POST', headers: form, body: 'apikey=secret-1&a=1' });
    assert.equal(upstream?.header('x-credential-identifier'), 'a');
    assert.equal(upstream?.body, 'a=1');
  });
  it('causes a refusal of a malformed body, even with a key in the header or an anonymous consumer', async () => {
    const multipart = { 'Content-Type': 'multipart/form-data; boundary=b' };
    const part = '--b\r\nContent-Disposition: form-data; name="apikey"\r\n\r\nsecret-1\r\n--b--';
    const bodies: [Record<string, string>, string | Uint8Array, number][] = [
      [json, '{"apikey":"secret-1"', 400],
      [json, "{'apikey':'secret-1'}", 400],
      [json, '\ufeff{"apikey":"secret-1"}', 400],
      [json, `{"apikey":"secret-1","a":${'['.repeat(1000)}${']'.repeat(1000)}}`, 400],
      [json, Buffer.from('{"apikey":"secret-1"}', 'utf16le'), 400],
      [form, `apikey=secret-1${'&a'.repeat(1000)}`, 400],
      [multipart, `preamble\r\n${part}`, 400],
      [{ 'Content-Type': 'multipart/form-data' }, part, 400],
      [{ ...json, 'Content-Encoding': 'gzip' }, 'no gzip', 400],
      [{ ...json, 'Content-Encoding': 'unknown' }, '{}', 415],
    ];
    for (const more of [{}, { anonymous: 'guest' }]) {
      for (const key of [{}, { apikey: 'secret-1' }]) {
        for (const [headers, body, status] of bodies) {
          const plugin = withKeys({ ...config, ...more });
          const { response, upstream } = await plugin.request({
            method: 'POST',
            headers: { ...headers, ...key },
            body,
          });
          assert.equal(response.status, status, String(body).slice(0, 40));
          assert.equal(upstream, null);
        }
      }
    }
  });
  it('is removed from a compressed body', async () => {
    const { upstream, response } = await withKeys(config).request({
      method: 'POST',
      headers: { ...form, 'Content-Encoding': 'gzip' },
      body: gzipSync('apikey=secret-1&a=1'),
    });
    assert.equal(response.status, 200);
    assert.equal(upstream?.body, 'a=1');
    assert.equal(upstream?.header('content-encoding'), null);
  });
  it('does not cause a refusal of a body without a key', async () => {
    const plugin = withKeys(config);
    for (const [headers, body] of [
      [json, '[{"apikey":"of-the-backend"}]'],
      [json, ''],
      [form, 'a'.repeat(5000)],
      [{ 'Content-Type': 'text/plain' }, '{"apikey":'],
    ] as const) {
      const { response, upstream } = await plugin.request({
        method: 'POST',
        headers: { ...headers, apikey: 'secret-1' },
        body,
      });
      assert.equal(response.status, 200);
      assert.equal(upstream?.body ?? '', body);
    }
  });
  it('stays in places where no key is searched', async () => {
    const { upstream } = await withKeys({ hide_credentials: true, key_in_query: false }).request({
      path: '/?apikey=of-the-backend',
      headers: { apikey: 'secret-1' },
    });
    assert.equal(upstream?.query, null);
  });
  it('is masked in logs by its name', () => {
    const needs = keyAuth.needs({ key_names: ['x-my-key'], key_in_body: false });
    assert.deepEqual(needs, { secrets: { queryArguments: ['x-my-key'], headers: ['x-my-key'] } });
    assert.deepEqual(keyAuth.needs({ key_names: ['k'], key_in_body: true }).requestBody, { maxBytes: 1_048_576 });
  });
});

describe('the anonymous consumer', () => {
  it('is used when the key is missing or wrong', async () => {
    for (const anonymous of ['guest', guest.id]) {
      const plugin = withKeys({ anonymous, hide_credentials: true });
      for (const headers of [{}, { apikey: 'wrong' }]) {
        const { upstream } = await plugin.request({ headers });
        assert.equal(upstream?.header('x-consumer-username'), 'guest');
        assert.equal(upstream?.header('x-anonymous-consumer'), 'true');
        assert.equal(upstream?.header('x-credential-identifier'), null);
        assert.equal(upstream?.header('apikey'), null);
      }
      assert.equal((await plugin.request({ headers: { apikey: 'secret-1' } })).consumer?.username, 'alice');
    }
  });
  it('causes an error when it does not exist', async () => {
    assert.equal((await withKeys({ anonymous: 'nobody' }).request()).response.status, 500);
  });
});

describe('preflight requests', () => {
  it('need a key by default', async () => {
    const request = { method: 'OPTIONS' };
    assert.equal((await withKeys().request(request)).response.status, 401);
    assert.equal((await withKeys({ run_on_preflight: false }).request(request)).response.status, 200);
    assert.equal((await withKeys({ run_on_preflight: false }).request()).response.status, 401);
  });
});

describe('a credential', () => {
  it('is refused as soon as it is deleted', async () => {
    const plugin = withKeys();
    const request = { headers: { apikey: 'secret-1' } };
    assert.equal((await plugin.request(request)).response.status, 200);
    await plugin.entities.delete('keyauth_credentials', credentialId);
    assert.equal((await plugin.request(request)).response.status, 401);
  });
});
