import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 24: credentials of clients are in no log, in no answer, and in no list of hashed fields. */

const recorder = fileURLToPath(new URL('../support/plugins/record-logger.ts', import.meta.url));

/** Part of every secret, after the characters that identify a hashed key. */
const mark = 's3cr3t';
let serial = 0;

/** A secret that is used nowhere else. */
function secret(): string {
  return `${String(++serial).padStart(12, '0')}${mark}${'abcdefgh'.repeat(3)}`;
}

/** What must not be found: the secret itself, in Base64 at each of the three offsets in a group, and escaped. */
function traces(): readonly RegExp[] {
  const base64 = [0, 1, 2].map((before) => {
    const text = Buffer.from('x'.repeat(before) + mark).toString('base64');
    // Without the digits that also encode neighbouring bytes.
    return text.slice(Math.ceil((before * 8) / 6), Math.floor(((before + mark.length) * 8) / 6));
  });
  const escaped = [...mark].map((char) => `(?:${char}|%${char.charCodeAt(0).toString(16)})`).join('');
  return [...base64.map((text) => new RegExp(text.replace(/[+/]/g, '\\$&'))), new RegExp(escaped, 'i')];
}

function basic(user: string, password: string): string {
  return `Authorization: Basic ${Buffer.from(`${user}:${password}`).toString('base64')}\r\n`;
}

function get(target: string, lines = ''): string {
  return `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}\r\n`;
}

function post(target: string, type: string, body: string, lines = ''): string {
  const length = `Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`;
  return `POST ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${lines}${length}\r\n${body}`;
}

/** A token that is a secret and whose claims and signature hold secrets. */
function signed(issuer: string, key: string): string {
  const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const text = `${part({ alg: 'HS256', typ: 'JWT' })}.${part({ iss: issuer, exp: 4e9, personal: secret() })}`;
  return `${text}.${createHmac('sha256', key).update(text).digest('base64url')}`;
}

const form = 'application/x-www-form-urlencoded';

describe('secrets', () => {
  let rig: Rig;
  const key = secret();
  const password = secret();
  const clientSecret = secret();
  const provisionKey = secret();
  const signingKey = secret();
  const answers: string[] = [];
  let sent = 0;

  before(async () => {
    rig = await startRig({
      route: { paths: ['/unused'] },
      settings: {
        logLevel: 'debug',
        hashKeys: true,
        plugins: [
          'acl',
          'auth-any',
          'key-auth',
          'basic-auth',
          'jwt',
          'oauth2',
          'ldap-auth',
          'session',
          'authorization',
          recorder,
        ],
      },
    });
    await rig.write('POST', '/plugins', { name: 'record-logger' });
    await rig.write('PUT', '/consumers/ada', {});
    await rig.write('POST', '/consumers/ada/key-auth', { key });
    await rig.write('POST', '/consumers/ada/basic-auth', { username: 'ada', password });
    await rig.write('POST', '/consumers/ada/jwt', { key: 'issuer', secret: signingKey });
    const app = { name: 'app', client_id: 'app', client_secret: clientSecret, hash_secret: true };
    await rig.write('POST', '/consumers/ada/oauth2', { ...app, redirect_uris: ['https://app.example/'] });
    // The second of each kind belongs to no consumer.
    await rig.write('PUT', '/services/gone', { url: 'http://127.0.0.1:1' });
    for (const service of ['backend', 'gone']) {
      const plugins: Readonly<Record<string, readonly (readonly [string, Readonly<Record<string, unknown>>])[]>> = {
        keys: [['key-auth', { key_names: ['apikey', 'My-Own-Key'], key_in_body: true }]],
        passwords: [['basic-auth', {}]],
        tokens: [
          [
            'oauth2',
            {
              scopes: ['read'],
              provision_key: provisionKey,
              enable_client_credentials: true,
              enable_password_grant: true,
              accept_http_if_already_terminated: true,
            },
          ],
        ],
        signed: [['jwt', { uri_param_names: ['jwt', 'Ticket'], cookie_names: ['ticket'] }]],
        // No server listens there.
        directory: [
          ['ldap-auth', { ldap_host: '127.0.0.1', ldap_port: 1, base_dn: 'dc=test', attribute: 'uid', timeout: 1000 }],
        ],
        any: [
          ['auth-any', { methods: ['key-auth', 'basic-auth', 'session'] }],
          ['key-auth', {}],
          ['basic-auth', {}],
          ['session', { secret: secret(), cookie_secure: false }],
          ['authorization', { rules: [{ name: 'ada', consumers: ['ada'] }] }],
        ],
      };
      for (const [name, instances] of Object.entries(plugins)) {
        const route = `${service}-${name}`;
        await rig.write('PUT', `/services/${service}/routes/${route}`, { paths: [`/${service}/${name}`] });
        for (const [plugin, config] of instances) {
          await rig.write('POST', `/routes/${route}/plugins`, { name: plugin, config });
        }
      }
    }
  });
  after(() => rig.close());

  async function send(bytes: string, hidden = true): Promise<number> {
    sent++;
    const response = await exchangeOne(rig.port, bytes, bytes.slice(0, bytes.indexOf(' ')));
    if (hidden) answers.push(response.raw + response.body);
    return response.status;
  }

  const places = ['/backend', '/gone', '/nowhere'] as const;
  const expected = { '/backend': 200, '/gone': 502, '/nowhere': 404 } as const;
  /** 401 means a refusal: without a route, no plugin refuses the request. */
  const refused = (place: (typeof places)[number]): number => (place === '/nowhere' ? 404 : 401);

  it('are accepted when right and refused when wrong: keys', async () => {
    for (const place of places) {
      const target = `${place}/keys`;
      const json = 'application/json';
      assert.equal(await send(get(target, `apikey: ${key}\r\n`)), expected[place]);
      assert.equal(await send(get(target, `My-Own-Key: ${key}\r\n`)), expected[place]);
      assert.equal(await send(get(`${target}?apikey=${key}&x=1`)), expected[place]);
      assert.equal(await send(post(target, form, `apikey=${key}`)), expected[place]);
      assert.equal(await send(post(target, json, JSON.stringify({ apikey: key }))), expected[place]);
      assert.equal(await send(get(target, `apikey: ${secret()}\r\n`)), refused(place));
      assert.equal(await send(get(`${target}?x=1&apikey=${secret()}`)), refused(place));
      assert.equal(await send(get(`${target}?%61pikey=${secret()}&apikey=${secret()}`)), refused(place));
      assert.equal(await send(post(target, json, `{"apikey":"${secret()}`)), refused(place));
      assert.equal(await send(get(target, `Referer: https://a.test/?apikey=${secret()}\r\n`)), refused(place));
      assert.equal(await send(get(`${target}?apikey=${secret()}`, 'No colon\r\n')), 400);
    }
    // Only the route's configuration knows the name of the argument.
    assert.equal(await send(get(`/backend/keys?My-Own-Key=${key}`)), 200);
    assert.equal(await send(get(`/backend/keys?My-Own-Key=${secret()}`)), 401);
    assert.equal(await send(get(`/backend/keys?My-Own-Key=${secret()}`, 'No colon\r\n')), 400);
  });

  it('are accepted when right and refused when wrong: passwords', async () => {
    for (const place of places) {
      const target = `${place}/passwords`;
      assert.equal(await send(get(target, basic('ada', password))), expected[place]);
      assert.equal(await send(get(target, basic('ada', secret()))), refused(place));
      assert.equal(await send(get(target, basic(secret(), secret()))), refused(place));
      assert.equal(await send(get(target, `Authorization: Basic ${secret()}\r\n`)), refused(place));
      assert.equal(await send(get(target, `Proxy-Authorization: Basic ${secret()}\r\n`)), refused(place));
      assert.equal(await send(get(`${target}?password=${secret()}&client_secret=${secret()}`)), refused(place));
    }
  });

  it('are accepted when right and refused when wrong: signed tokens', async () => {
    for (const place of places) {
      const target = `${place}/signed`;
      for (const [issuer, key, status] of [
        ['issuer', signingKey, expected[place]],
        ['issuer', secret(), refused(place)],
        [secret(), signingKey, refused(place)],
      ] as const) {
        const token = signed(issuer, key);
        for (const text of [
          get(target, `Authorization: Bearer ${token}\r\n`),
          get(target, `Cookie: ticket=${token}\r\n`),
          get(`${target}?jwt=${token}`),
          get(`${target}?x=1&Ticket=${token}`),
        ]) {
          assert.equal(await send(text), status);
        }
      }
      const broken = `Authorization: Bearer ${signed('issuer', signingKey).replace('.', '.x')}\r\n`;
      assert.equal(await send(get(target, broken)), refused(place));
    }
  });

  it('are refused when the server that checks them is unavailable', async () => {
    for (const lines of [
      basic('ada', secret()),
      `Authorization: LDAP ${Buffer.from(`ada:${secret()}`).toString('base64')}\r\n`,
    ]) {
      assert.ok((await send(get('/backend/directory', lines))) >= 401);
    }
  });

  it('are accepted when right and refused when wrong: tokens', async () => {
    const target = '/backend/tokens';
    const https = 'X-Forwarded-Proto: https\r\n';
    for (const fields of [
      `grant_type=client_credentials&client_id=app&client_secret=${secret()}`,
      `grant_type=password&client_id=app&client_secret=${secret()}&username=ada&password=${secret()}&provision_key=${secret()}`,
      `grant_type=refresh_token&client_id=app&client_secret=${clientSecret}&refresh_token=${secret()}`,
      `grant_type=authorization_code&client_id=app&client_secret=${clientSecret}&code=${secret()}`,
      `grant_type=${secret()}`,
    ]) {
      const status = await send(post(`${target}/oauth2/token`, form, fields, https));
      assert.ok(status >= 400 && status < 500, String(status));
    }
    for (const place of places) {
      const token = `${place}/tokens`;
      assert.equal(await send(get(token, `Authorization: Bearer ${secret()}\r\n`)), refused(place));
      assert.equal(await send(get(`${token}?access_token=${secret()}`)), refused(place));
      assert.equal(await send(get(`${token}?code=${secret()}&provision_key=${secret()}`)), refused(place));
      assert.equal(await send(post(token, form, `access_token=${secret()}`)), refused(place));
    }
  });

  it('are accepted when right and refused when wrong: several methods', async () => {
    for (const place of places) {
      const target = `${place}/any`;
      assert.equal(await send(get(target, `apikey: ${key}\r\n`)), expected[place]);
      assert.equal(await send(get(target, basic('ada', password))), expected[place]);
      const wrong = `apikey: ${secret()}\r\n${basic('ada', secret())}Cookie: session=${secret()}\r\n`;
      assert.equal(await send(get(target, wrong)), refused(place));
    }
  });

  it('are in no answer', () => {
    assert.ok(answers.length > 50);
    for (const answer of answers) {
      for (const trace of traces()) assert.doesNotMatch(answer, trace);
    }
  });

  it('are not shown again when stored hashed, and their paths are not logged', async () => {
    for (const path of [
      '/key-auths',
      '/basic-auths',
      '/oauth2',
      '/consumers/ada/key-auth',
      '/consumers/ada/basic-auth',
      '/consumers/ada/oauth2',
    ]) {
      const listed = await rig.write('GET', path);
      assert.equal((listed['data'] as unknown[]).length, 1, path);
      for (const trace of traces()) assert.doesNotMatch(JSON.stringify(listed), trace);
    }
    for (const path of ['/key-auths/', '/consumers/ada/key-auth/', '/oauth2_tokens/']) {
      const { status } = await rig.gateway.admin('GET', path + secret());
      assert.equal(status, 404, path);
    }
    await rig.gateway.admin('POST', '/consumers/ada/key-auth', { key: secret(), tags: 7 });
    await rig.gateway.admin('POST', '/consumers/ada/basic-auth', { password: secret() });
  });

  it('are in no audit record', async () => {
    const { data } = await rig.write('GET', '/audit?size=1000');
    const records = data as readonly Readonly<Record<string, unknown>>[];
    for (const entity of [
      'keyauth_credentials',
      'basicauth_credentials',
      'jwt_secrets',
      'oauth2_credentials',
      'plugins',
    ]) {
      assert.ok(
        records.some((record) => record['entity'] === entity),
        `nothing of ${entity}`,
      );
    }
    for (const record of records) {
      for (const trace of traces()) assert.doesNotMatch(JSON.stringify(record), trace);
    }
  });

  it('are in no log', async () => {
    const logs = await logsOf(rig.gateway.prefix, sent);
    const sessions = answers.flatMap((answer) => /^set-cookie: session=([^;]{20})/im.exec(answer)?.[1] ?? []);
    assert.ok(sessions.length > 0);
    for (const text of Object.values(logs)) {
      for (const session of sessions) assert.ok(!text.includes(session), 'a session cookie is in a log');
    }
    assert.ok(Object.keys(logs).length >= 3, Object.keys(logs).join());
    assert.match(logs['access.log'] ?? '', /apikey=REDACTED&x=1/);
    assert.match(logs['access.log'] ?? '', /My-Own-Key=REDACTED/);
    assert.match(logs['error.log'] ?? '', /"my-own-key":"REDACTED"/);
    for (const [name, text] of Object.entries(logs)) {
      for (const line of text.split('\n')) {
        for (const trace of traces()) assert.doesNotMatch(line, trace, name);
      }
    }
  });
});

/** All log files, once that many requests have their lines. */
async function logsOf(prefix: string, requests: number): Promise<Readonly<Record<string, string>>> {
  for (let turn = 0; ; turn++) {
    const names = (await readdir(prefix)).filter((name) => name.endsWith('.log'));
    const texts = await Promise.all(names.map((name) => readFile(join(prefix, name), 'utf8')));
    const logs = Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
    const seen = (logs['access.log'] ?? '').split('\n').length - 1;
    const admin = /oauth2_tokens/.test(logs['admin-access.log'] ?? '');
    if (seen >= requests && admin) return logs;
    if (turn > 400) throw new Error(`${seen} of ${requests} requests are in the access log`);
    await delay(10);
  }
}
