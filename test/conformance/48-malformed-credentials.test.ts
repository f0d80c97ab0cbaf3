import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { exchangeOne } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 48: malformed credentials, cookies and headers never authenticate a client, and cause no server error. */

const base64 = (text: string | Buffer): string => Buffer.from(text as string).toString('base64');
const part = (value: unknown): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url');
const signed = (header: unknown, claims: unknown): string => {
  const text = `${part(header)}.${part(claims)}`;
  return `${text}.${createHmac('sha256', 'the-secret').update(text).digest('base64url')}`;
};
const hs256 = { alg: 'HS256', typ: 'JWT' };

const values: readonly string[] = [
  '',
  ' ',
  '=',
  ':',
  '\xff\xfe\xfd',
  '%',
  '%00',
  '%zz',
  '%ff%fe',
  '"',
  '\\',
  '{}',
  '[]',
  'null',
  '__proto__',
  'constructor',
  'a.b.c',
  '..',
  '.'.repeat(5000),
  'A'.repeat(7000),
  base64(':'),
  base64('user'),
  base64(':password'),
  base64('user:'),
  base64('\0:\0'),
  base64('user\r\nX-Consumer-Username: ada:x'),
  base64(Buffer.from([0xff, 0x3a, 0xff])),
  base64('__proto__:x'),
  signed('null', {}),
  signed('{', '{'),
  signed({ alg: 'none' }, { iss: 'issuer' }),
  signed({ alg: ['HS256'] }, { iss: 'issuer' }),
  signed({ ...hs256, crit: ['b64'], b64: false }, { iss: 'issuer' }),
  signed(hs256, 'null'),
  signed(hs256, '[1]'),
  signed(hs256, '"text"'),
  signed(hs256, { iss: 7 }),
  signed(hs256, { iss: null }),
  signed(hs256, { iss: ['issuer'] }),
  signed(hs256, { iss: { toString: 'x' } }),
  signed(hs256, { iss: '__proto__' }),
  signed(hs256, { iss: 'a\r\nX-Consumer-Username: ada' }),
  signed(hs256, '{"iss":"x","iss":"issuer"}'),
  signed(hs256, `${'['.repeat(2000)}`),
];

/** Lines that carry a value, by the plugin that would read them. */
const places: Readonly<Record<string, (value: string) => string>> = {
  'key-auth': (value) => `apikey: ${value}\r\n`,
  'key-auth twice': (value) => `apikey: ${value}\r\napikey: ${value}x\r\n`,
  'jwt in a cookie': (value) => `Cookie: token=${value}; token="${value}\r\nCookie: =;;token\r\n`,
  'jwt in a header': (value) => `Authorization: Bearer ${value}\r\n`,
  'two schemes at once': (value) => `Authorization: Bearer ${value}, Basic ${value}\r\n`,
  'basic-auth': (value) => `Authorization: Basic ${value}\r\n`,
  'basic-auth by proxy': (value) => `Proxy-Authorization: Basic ${value}\r\nAuthorization: Basic ${value}\r\n`,
  'hmac-auth': (value) =>
    `Date: ${new Date().toUTCString()}\r\nAuthorization: hmac username="${value}", algorithm="hmac-sha256", headers="date", signature="${value}"\r\n`,
  'hmac-auth in pieces': (value) => `Date: ${value}\r\nAuthorization: hmac ${value}\r\n`,
  'ldap-auth': (value) => `Authorization: ldap ${value}\r\n`,
  'oauth2-introspection': (value) => `Authorization: bearer ${value}\r\n`,
  'a session': (value) => `Cookie: session=${value}; session_0=${value}\r\n`,
};

describe('malformed credentials', () => {
  let rig: Rig;
  let directory: Server;
  let introspection: TestBackend;
  const plugins: [name: string, config: Readonly<Record<string, unknown>>][] = [];
  before(async () => {
    // Neither of these servers accepts anything.
    directory = createServer((socket) => void socket.on('error', () => {}).on('data', () => socket.end('no LDAP')));
    await new Promise<void>((resolve) => directory.listen(0, '127.0.0.1', resolve));
    introspection = await startBackend({ handler: (_, response) => void response.end('{"active":false}') });
    const address = directory.address();
    assert.ok(address !== null && typeof address === 'object');
    plugins.push(
      ['key-auth', { key_in_body: true }],
      ['jwt', { cookie_names: ['token'] }],
      ['basic-auth', {}],
      ['hmac-auth', { validate_request_body: true }],
      ['ldap-auth', { ldap_host: '127.0.0.1', ldap_port: address.port, base_dn: 'dc=test', attribute: 'uid' }],
      ['oauth2', { enable_client_credentials: true }],
      ['oauth2-introspection', { introspection_url: introspection.url, authorization_value: 'x' }],
      ['mtls-auth', { ca_certificates: ['0a000000-0000-4000-8000-00000000000a'] }],
    );
    rig = await startRig({ settings: { plugins: [...plugins.map(([name]) => name), 'auth-any', 'session'] } });
    await rig.write('PUT', '/consumers/ada', {});
    await rig.write('PUT', '/consumers/guest', {});
    await rig.write('POST', '/consumers/ada/jwt', { key: 'issuer', secret: 'another-secret' });
    await rig.write('POST', '/consumers/ada/key-auth', { key: 'a-key' });
    await rig.write('POST', '/consumers/ada/basic-auth', { username: 'user', password: 'right' });
    await rig.write('POST', '/consumers/ada/hmac-auth', { username: 'user', secret: 'the-secret' });
    for (const [name, config] of plugins) {
      for (const [path, anonymous] of [
        [`/${name}`, null],
        [`/open/${name}`, 'guest'],
      ] as const) {
        const route = path.replaceAll('/', '-').slice(1);
        await rig.write('PUT', `/services/backend/routes/${route}`, { paths: [path] });
        await rig.write('POST', `/routes/${route}/plugins`, { name, config: { ...config, anonymous } });
        await rig.write('POST', `/routes/${route}/plugins`, { name: 'session', config: {} });
      }
    }
    await rig.write('PUT', '/services/backend/routes/any', { paths: ['/any'] });
    const methods = ['key-auth', 'jwt', 'basic-auth', 'hmac-auth'];
    await rig.write('POST', '/routes/any/plugins', { name: 'auth-any', config: { methods } });
    for (const [name, config] of plugins) {
      if (methods.includes(name)) await rig.write('POST', '/routes/any/plugins', { name, config });
    }
  });
  after(async () => {
    await rig.close();
    await introspection.close();
    directory.close();
  });

  async function send(path: string, lines: string, query: string): Promise<void> {
    const target = path + query;
    const seen = rig.backend.requests.length;
    const head = `GET ${target} HTTP/1.1\r\nHost: a\r\n${lines}\r\n`;
    const { status } = await exchangeOne(rig.port, head);
    const passed = rig.backend.requests.slice(seen);
    const [, first] = path.split('/');
    for (const request of passed) {
      assert.equal(first, 'open', `${target} let in: ${lines}`);
      assert.equal(request.get('x-consumer-username'), 'guest', `${target} ${lines}`);
      assert.equal(request.get('x-anonymous-consumer'), 'true', `${target} ${lines}`);
      assert.equal(request.get('x-credential-identifier'), undefined, `${target} ${lines}`);
    }
    // 503: the directory gives no valid answer. 413: the credential is too large.
    const expected = first === 'open' ? [200, 400, 503] : [400, 401, 503];
    assert.ok(expected.includes(status), `${status} for ${target} ${lines.slice(0, 300)}`);
  }

  for (const [place, linesOf] of Object.entries(places)) {
    it(`are refused or treated as anonymous: ${place}`, async () => {
      const paths = [...plugins.flatMap(([name]) => [`/${name}`, `/open/${name}`]), '/any'];
      for (const value of values) {
        // In the query once for each place.
        const query = value === '' ? '?jwt=%ff&apikey=&access_token=%00' : '';
        for (const path of paths) await send(path, linesOf(value), query);
      }
    });
  }
});
