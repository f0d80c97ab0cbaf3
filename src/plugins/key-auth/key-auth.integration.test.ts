import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { hashKey } from './hash-key.ts';

const settings = { plugins: ['key-auth'] };

async function statusOf(rig: Rig, key: string): Promise<number> {
  return (await exchangeOne(rig.port, `GET / HTTP/1.1\r\nHost: a\r\napikey: ${key}\r\n\r\n`)).status;
}

async function readLogs(prefix: string): Promise<string> {
  const names = ['access.log', 'error.log', 'admin-access.log'];
  const texts = names.map((name) => readFile(join(prefix, name), 'utf8').catch(() => ''));
  return (await Promise.all(texts)).join('\n');
}

describe('keys through the Admin API', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings });
    await rig.write('PUT', '/consumers/alice', {});
    await rig.write('PUT', '/consumers/bob', {});
    await rig.write('POST', '/routes/all/plugins', { name: 'key-auth' });
  });
  after(() => rig.close());

  it('are generated with 32 letters and digits by default, and work from the answer until their deletion', async () => {
    const made = await rig.write('POST', '/consumers/alice/key-auth', {});
    assert.match(String(made['key']), /^[A-Za-z0-9]{32}$/);
    assert.equal(made['key_prefix'], null);
    assert.equal(await statusOf(rig, String(made['key'])), 200);
    assert.equal(rig.backend.requests.at(-1)?.get('x-consumer-username'), 'alice');
    assert.equal(rig.backend.requests.at(-1)?.get('x-credential-identifier'), made['id']);
    await rig.write('DELETE', `/consumers/alice/key-auth/${made['key']}`);
    assert.equal(await statusOf(rig, String(made['key'])), 401);
  });

  it('can be rotated while two are valid at once', async () => {
    const old = await rig.write('POST', '/consumers/alice/key-auth', { key: 'key-of-last-year' });
    await rig.write('POST', '/consumers/alice/key-auth', { key: 'key-of-this-year' });
    assert.deepEqual([await statusOf(rig, 'key-of-last-year'), await statusOf(rig, 'key-of-this-year')], [200, 200]);
    await rig.write('DELETE', `/key-auths/${old['id']}`);
    assert.deepEqual([await statusOf(rig, 'key-of-last-year'), await statusOf(rig, 'key-of-this-year')], [401, 200]);
  });

  it('do not occur in the audit log, nor do values from which they could be guessed', async () => {
    await rig.write('POST', '/consumers/bob/key-auth', { key: 'summer2026' });
    const { body } = await rig.gateway.admin('GET', '/audit?entity=key-auths&size=1');
    const text = JSON.stringify(body);
    assert.match(text, /"key":"REDACTED"/);
    assert.ok(!text.includes('summer2026') && !text.includes(hashKey('summer2026')), text);
  });

  it('keep their value in a PATCH without a key, and change in a PATCH with one', async () => {
    const made = await rig.write('POST', '/consumers/bob/key-auth', { key: 'first-key-of-bob' });
    const tagged = await rig.write('PATCH', `/consumers/bob/key-auth/${made['id']}`, { tags: ['t'] });
    assert.equal(tagged['key'], 'first-key-of-bob');
    await rig.write('PATCH', `/key-auths/${made['id']}`, { key: 'second-key-of-bob' });
    assert.deepEqual([await statusOf(rig, 'first-key-of-bob'), await statusOf(rig, 'second-key-of-bob')], [401, 200]);
  });

  it('expire', async () => {
    const made = await rig.write('POST', '/consumers/bob/key-auth', { key: 'short-lived', ttl: 1 });
    assert.equal(made['ttl'], 1);
    assert.equal(
      (await rig.gateway.admin('GET', `/key-auths/${made['id']}`)).body['ttl'],
      0,
      'rounded down, as by Kong',
    );
    assert.equal(await statusOf(rig, 'short-lived'), 200);
    const deadline = Date.now() + 5000;
    while ((await statusOf(rig, 'short-lived')) === 200) assert.ok(Date.now() < deadline, 'the key is still valid');
    assert.equal(await statusOf(rig, 'short-lived'), 401);
  });

  it('keep their value in a PUT without a key, and have no computed field in the schema', async () => {
    const made = await rig.write('POST', '/consumers/bob/key-auth', {});
    for (const body of [{}, { key: null }]) {
      assert.equal((await rig.write('PUT', `/consumers/bob/key-auth/${made['id']}`, body))['key'], made['key']);
    }
    const { body } = await rig.gateway.admin('GET', '/schemas/keyauth_credentials');
    assert.doesNotMatch(JSON.stringify(body), /key_hash|key_prefix/);
    assert.deepEqual([made['key_hash'], await statusOf(rig, String(made['key']))], [hashKey(String(made['key'])), 200]);
  });

  it('hashed by another gateway are imported and stay hashed', async () => {
    const hash = { key_hash: hashKey('hashed-elsewhere'), key_prefix: 'hash' };
    const made = await rig.write('POST', '/consumers/bob/key-auth', hash);
    assert.deepEqual([made['key'], made['key_prefix']], [null, 'hash']);
    assert.equal(await statusOf(rig, 'hashed-elsewhere'), 200);
    const patched = await rig.write('PATCH', `/key-auths/${made['id']}`, { tags: ['imported'] });
    assert.deepEqual([patched['key'], patched['key_hash']], [null, hash.key_hash]);
    assert.equal(await statusOf(rig, 'hashed-elsewhere'), 200);
    assert.equal(
      (await rig.gateway.admin('POST', '/consumers/alice/key-auth', { key: 'hashed-elsewhere' })).status,
      409,
    );
    assert.equal((await rig.gateway.admin('POST', '/consumers/bob/key-auth', { key_hash: 'x' })).status, 400);
  });

  it('are in no log', async () => {
    await rig.write('POST', '/consumers/alice/key-auth', { key: 'key-that-is-in-no-log' });
    await exchangeOne(rig.port, 'GET /?apikey=key-that-is-in-no-log HTTP/1.1\r\nHost: a\r\n\r\n');
    await exchangeOne(rig.port, 'GET /after HTTP/1.1\r\nHost: a\r\n\r\n');
    const deadline = Date.now() + 5000;
    for (;;) {
      const logs = await readLogs(rig.gateway.prefix);
      assert.doesNotMatch(logs, /key-that-is-in-no-log/);
      if (logs.includes('/after')) break;
      assert.ok(Date.now() < deadline, 'the access log has no line');
    }
  });

  it('are deleted with their consumer', async () => {
    await rig.write('PUT', '/consumers/carol', {});
    await rig.write('POST', '/consumers/carol/key-auth', { key: 'key-of-carol' });
    assert.equal(await statusOf(rig, 'key-of-carol'), 200);
    await rig.write('DELETE', '/consumers/carol');
    assert.equal(await statusOf(rig, 'key-of-carol'), 401);
  });

  it('in a body are hidden, and the length is adjusted', async () => {
    await rig.write('POST', '/consumers/alice/key-auth', { key: 'key-in-a-body' });
    const config = { key_in_body: true, hide_credentials: true };
    const plugin = await rig
      .write('PUT', '/routes/all/plugins/7f6b8c1e-0000-4000-8000-00000000abcd', {
        name: 'key-auth',
        config,
        instance_name: 'body',
      })
      .catch(() => null);
    assert.equal(plugin, null, 'one instance of a plugin for each scope');
    await rig.write('PUT', '/services/backend/routes/body', { paths: ['/body'], strip_path: false });
    await rig.write('POST', '/routes/body/plugins', { name: 'key-auth', config });
    const body = 'a=1&apikey=key-in-a-body&b=2';
    const head = 'POST /body HTTP/1.1\r\nHost: a\r\nContent-Type: application/x-www-form-urlencoded\r\n';
    for (const framed of [
      `Content-Length: ${body.length}\r\n\r\n${body}`,
      `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    ]) {
      assert.equal((await exchangeOne(rig.port, head + framed)).status, 200);
      assert.equal(rig.backend.requests.at(-1)?.body, 'a=1&b=2');
      assert.equal(rig.backend.requests.at(-1)?.get('content-length'), '7');
    }
  });
});

describe('keys that are stored hashed', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({ settings: { ...settings, hashKeys: true } });
    await rig.write('PUT', '/consumers/alice', {});
    await rig.write('PUT', '/consumers/bob', {});
    await rig.write('POST', '/routes/all/plugins', { name: 'key-auth' });
  });
  after(() => rig.close());

  it('are shown only once', async () => {
    const made = await rig.write('POST', '/consumers/alice/key-auth', {});
    const key = String(made['key']);
    assert.match(key, /^[A-Za-z0-9]{32}$/);
    assert.equal(made['key_prefix'], key.slice(0, 8));
    const lists = ['/key-auths', '/consumers/alice/key-auth', `/key-auths/${made['id']}`];
    for (const path of lists) {
      const text = JSON.stringify((await rig.gateway.admin('GET', path)).body);
      assert.match(text, new RegExp(key.slice(0, 8)));
      assert.doesNotMatch(text, new RegExp(key));
    }
    assert.equal(await statusOf(rig, key), 200);
    assert.equal(await statusOf(rig, String(made['key_hash'])), 401);
    assert.equal(await statusOf(rig, String(made['key_prefix'])), 401);
  });

  it('keep their value in a PATCH or PUT of the entity as read', async () => {
    const made = await rig.write('POST', '/consumers/alice/key-auth', { key: 'a-key-that-alice-chose' });
    const patched = await rig.write('PATCH', `/key-auths/${made['id']}`, { tags: ['x'] });
    assert.deepEqual([patched['key'], patched['key_prefix']], [null, 'a-key']);
    const { body } = await rig.gateway.admin('GET', `/key-auths/${made['id']}`);
    await rig.write('PUT', `/key-auths/${made['id']}`, body);
    assert.equal(await statusOf(rig, 'a-key-that-alice-chose'), 200);
  });

  it('keep their value in a PUT without a key, whatever hash the client sends', async () => {
    const made = await rig.write('POST', '/consumers/alice/key-auth', { key: 'to-be-kept' });
    const path = `/consumers/alice/key-auth/${made['id']}`;
    for (const body of [{}, { key: null }, { key_hash: hashKey('of-somebody-else'), key_prefix: 'of-s' }]) {
      const put = await rig.write('PUT', path, body);
      assert.deepEqual([put['key'], put['key_hash'], put['key_prefix']], [null, made['key_hash'], made['key_prefix']]);
      assert.equal(await statusOf(rig, 'to-be-kept'), 200);
    }
    const put = await rig.write('PUT', path, { key: 'another-one', key_hash: made['key_hash'] });
    assert.equal(put['key_hash'], hashKey('another-one'));
    assert.deepEqual([await statusOf(rig, 'to-be-kept'), await statusOf(rig, 'another-one')], [401, 200]);
  });

  it('are unique', async () => {
    await rig.write('POST', '/consumers/alice/key-auth', { key: 'only-one-may-have-it' });
    const second = await rig.gateway.admin('POST', '/consumers/bob/key-auth', { key: 'only-one-may-have-it' });
    assert.equal(second.status, 409);
  });
});
