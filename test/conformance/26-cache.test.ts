import assert from 'node:assert/strict';
import { after, afterEach, before, describe, it } from 'node:test';
import type { MessageHead } from '../support/http-message.ts';
import { answer, type BackendConnection, type BackendRequest } from '../support/raw-backend.ts';
import { exchangeOne, exchangeToEnd } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';

/** Case 26: a cache never serves another client's answer, the answer to another request, or an incomplete answer. */

type Script = (request: BackendRequest, connection: BackendConnection) => string | null | Promise<string | null>;

const json = 'Content-Type: application/json\r\n';

describe('the cache', () => {
  let rig: Rig;
  let script: Script = () => answer('', json);
  let serial = 0;
  const keys = new Map<string, string>();

  before(async () => {
    rig = await startRig({
      settings: { plugins: ['proxy-cache', 'key-auth'] },
      script: async (connection) => {
        for (;;) {
          const request = await connection.readRequest();
          const bytes = await script(request, connection);
          if (bytes !== null) connection.write(bytes);
        }
      },
      route: { preserve_host: true },
    });
    await rig.write('POST', '/services/backend/plugins', { name: 'proxy-cache', config: { strategy: 'memory' } });
    // The same backend with authentication, and without plugins.
    await rig.write('PUT', '/services/backend/routes/login', { paths: ['/login'], strip_path: false });
    await rig.write('POST', '/routes/login/plugins', { name: 'key-auth' });
    for (const name of ['ada', 'bob']) {
      await rig.write('PUT', `/consumers/${name}`);
      await rig.write('POST', `/consumers/${name}/key-auth`, { key: `key-of-${name}` });
      keys.set(name, `key-of-${name}`);
    }
  });
  after(() => rig.close());
  afterEach(async () => {
    assert.equal((await rig.gateway.admin('DELETE', '/proxy-cache')).status, 204);
    assert.deepEqual(rig.backend.scriptErrors, []);
  });

  const ask = (path: string, lines = '', { method = 'GET', host = 'a.example' } = {}) =>
    exchangeOne(rig.port, `${method} ${path} HTTP/1.1\r\nHost: ${host}\r\n${lines}\r\n`, method);
  const statusOf = (head: MessageHead): string | undefined => head.get('x-cache-status');
  /** Every answer is different. */
  const numbered =
    (headers = ''): Script =>
    () =>
      answer(`{"n":${++serial}}`, json + headers);

  it('separates hosts, ports, methods, schemes and paths', async () => {
    script = (request) =>
      answer(`{"for":"${request.get('host')} ${request.method}"}`, `${json}X-Method: ${request.method}\r\n`);
    const first = await ask('/key');
    for (const host of ['b.example', 'a.example:81', 'a.example.', 'a.example:8000']) {
      const other = await ask('/key', '', { host });
      assert.equal(statusOf(other), 'Miss', host);
      assert.equal(JSON.parse(other.body).for, `${host} GET`);
    }
    assert.equal(statusOf(await ask('/key', '', { method: 'POST' })), 'Bypass');
    assert.equal(statusOf(await ask('/key', '', { method: 'OPTIONS' })), 'Bypass');
    for (const path of ['/key/', '/KEY', '/key?', '/key?a', '/key%3Fa', '/key%2F']) {
      const other = await ask(path);
      if (path !== '/key?') assert.equal(statusOf(other), 'Miss', path);
    }
    const head = await ask('/other', '', { method: 'HEAD' });
    assert.equal(head.get('x-method'), 'HEAD');
    assert.equal((await ask('/other')).get('x-method'), 'GET');
    assert.equal(JSON.parse(first.body).for, 'a.example GET');
  });

  it('uses the host and path of an absolute-form target', async () => {
    script = numbered();
    await ask('/absolute');
    const same = await exchangeOne(rig.port, 'GET http://a.example/absolute HTTP/1.1\r\nHost: a.example\r\n\r\n');
    assert.equal(statusOf(same), 'Hit');
    const other = await exchangeOne(rig.port, 'GET http://b.example/absolute HTTP/1.1\r\nHost: b.example\r\n\r\n');
    assert.equal(statusOf(other), 'Miss');
  });

  it('separates variants even with a crafted Vary', async () => {
    for (const vary of [
      '*',
      'Accept, *',
      'no name at all',
      '\tX-A\t,,',
      Array(40)
        .fill(0)
        .map((_, at) => `x-${at}`)
        .join(),
    ]) {
      script = (request) => answer(`"${request.get('x-a')}"`, `${json}Vary: ${vary}\r\n`);
      const path = `/vary/${serial++}`;
      await ask(path, 'X-A: one\r\n');
      const other = await ask(path, 'X-A: two\r\n');
      assert.equal(other.body, '"two"', vary);
    }
    // Values cannot be shifted from one name to the next, nor look like another key.
    script = (request) => answer(`"${request.get('x-a')} ${request.get('x-b')}"`, `${json}Vary: X-A, X-B\r\n`);
    for (const [a, b] of [
      ['1', '2'],
      ['1,x-b:2', ''],
      ['', '1 2'],
      ['1,', '2'],
      ['1', ',2'],
    ]) {
      const { body } = await ask('/vary/shift', `X-A: ${a}\r\nX-B: ${b}\r\n`);
      assert.equal(body, `"${a} ${b}"`);
    }
  });

  it('serves a private answer of one consumer to no other', async () => {
    script = (request) => answer(`"${request.get('x-consumer-username')}"`, json);
    const as = (name: string, path: string) => ask(path, `apikey: ${keys.get(name)}\r\n`);
    for (const control of ['', 'Cache-Control: private, max-age=60\r\n', 'Cache-Control: max-age=60\r\n']) {
      script = (request) => answer(`"${request.get('x-consumer-username')}"`, json + control);
      const path = `/login/${serial++}`;
      for (const name of ['ada', 'bob', 'ada', 'bob']) assert.equal((await as(name, path)).body, `"${name}"`, control);
    }
    assert.equal((await ask('/login/1')).status, 401);
    // All at once: a request that waits for another consumer's answer does not get it.
    script = async (request) => answer(`"${request.get('x-consumer-username')}"`, json);
    const names = Array.from({ length: 20 }, (_, at) => (at % 2 === 0 ? 'ada' : 'bob'));
    const bodies = await Promise.all(names.map(async (name) => (await as(name, '/login/at-once')).body));
    assert.deepEqual(
      bodies,
      names.map((name) => `"${name}"`),
    );
    // Without authentication clients cannot be distinguished: the answer is not stored.
    script = numbered('Cache-Control: private, max-age=60\r\n');
    assert.notEqual((await ask('/private')).body, (await ask('/private')).body);
  });

  it('serves no cookies of other clients', async () => {
    script = numbered('Set-Cookie: session=secret\r\n');
    const first = await ask('/cookies');
    const second = await ask('/cookies');
    assert.deepEqual([statusOf(first), statusOf(second)], ['Bypass', 'Bypass']);
    assert.notEqual(first.body, second.body);
  });

  it('stores answers to Authorization only where they allow it', async () => {
    const login = 'Authorization: Basic YWRhOnB3\r\n';
    script = numbered('Cache-Control: max-age=60\r\n');
    await ask('/authorized', login);
    assert.equal(statusOf(await ask('/authorized', login)), 'Bypass');
    assert.equal(statusOf(await ask('/authorized')), 'Miss');
    script = numbered('Cache-Control: public, max-age=60\r\n');
    await ask('/public', login);
    assert.equal(statusOf(await ask('/public')), 'Hit');
  });

  it('cannot be poisoned through unkeyed input', async () => {
    // Forwarding headers of the gateway: the path as the client sent it, the host, the scheme.
    script = (request) =>
      answer(`"${request.target} ${request.get('x-forwarded-path')} ${request.get('x-forwarded-host')}"`, json);
    await ask('/a/../poison');
    assert.equal((await ask('/poison')).body, '"/poison /poison a.example"');
    // Forwarding headers of an untrusted client never reach the backend.
    for (const line of [
      'X-Forwarded-Host: evil.example',
      'X-Forwarded-Path: /evil',
      'X-Forwarded-Proto: evil',
      'X-Forwarded-Port: 666',
      'X-Forwarded-Prefix: /evil',
      'Forwarded: host=evil.example',
    ]) {
      const path = `/poison/${serial++}`;
      script = (request) => answer(JSON.stringify(request.raw.slice(request.raw.indexOf('\n'))), json);
      await ask(path, `${line}\r\n`);
      const later = await ask(path);
      assert.equal(statusOf(later), 'Hit');
      assert.ok(!/evil|\b666\b/.test(later.body), `${line}: ${later.body}`);
    }
    // A request that breaks the backend, and only this one.
    script = (request) =>
      request.get('x-break') === undefined ? answer('"good"', json) : answer('"bad"', json, '500 Bad');
    await ask('/break', 'X-Break: 1\r\n');
    assert.equal((await ask('/break')).body, '"good"');
    // The body of a GET.
    script = (request) => answer(`"${request.body.length}"`, json);
    await exchangeOne(rig.port, 'GET /fat HTTP/1.1\r\nHost: a.example\r\nContent-Length: 4\r\n\r\nevil');
    assert.equal((await ask('/fat')).body, '"0"');
  });

  it('stores no partial answer, and evaluates conditions against the stored answer', async () => {
    script = (request) =>
      request.get('range') === undefined
        ? answer('"0123456789"', `${json}ETag: "1"\r\n`)
        : answer('"0', `${json}Content-Range: bytes 0-1/12\r\n`, '206 Partial Content');
    const part = await ask('/range', 'Range: bytes=0-1\r\n');
    assert.deepEqual([part.status, statusOf(part)], [206, 'Bypass']);
    assert.equal((await ask('/range')).body, '"0123456789"');
    const cut = await ask('/range', 'Range: bytes=1-3\r\n');
    assert.deepEqual([cut.status, cut.body, cut.get('content-range')], [206, '012', 'bytes 1-3/12']);
    const changed = await ask('/range', 'Range: bytes=1-3\r\nIf-Range: "other"\r\n');
    assert.deepEqual([changed.status, changed.body], [200, '"0123456789"']);
    const beyond = await ask('/range', 'Range: bytes=99-\r\n');
    assert.deepEqual([beyond.status, beyond.get('content-range')], [416, 'bytes */12']);
    const same = await ask('/range', 'If-None-Match: W/"1"\r\n');
    assert.deepEqual([same.status, same.body], [304, '']);
    assert.equal((await ask('/range', 'If-None-Match: "0"\r\n')).status, 200);
    // A 304 to a client's own condition is not stored for others.
    script = () => 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n';
    await ask('/unknown', 'Range: bytes=0-1\r\nIf-None-Match: "1"\r\n');
    script = () => answer('"whole"', json);
    const whole = await ask('/unknown');
    assert.deepEqual([whole.status, whole.body, statusOf(whole)], [200, '"whole"', 'Miss']);
  });

  it('does not store an aborted answer', async () => {
    const broken: Readonly<Record<string, string>> = {
      'a declared length': `HTTP/1.1 200 OK\r\n${json}Content-Length: 100\r\n\r\n"half`,
      chunks: `HTTP/1.1 200 OK\r\n${json}Transfer-Encoding: chunked\r\n\r\n5\r\n"half\r\n`,
      'a bad chunk': `HTTP/1.1 200 OK\r\n${json}Transfer-Encoding: chunked\r\n\r\n5\r\n"half\r\nzz\r\n`,
    };
    for (const [what, bytes] of Object.entries(broken)) {
      const path = `/broken/${serial++}`;
      script = (_, connection) => {
        connection.end(bytes);
        return null;
      };
      const { text } = await exchangeToEnd(
        rig.port,
        `GET ${path} HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n`,
      );
      assert.ok(!text.includes('X-Cache-Status: Hit'), what);
      script = () => answer('"whole"', json);
      const next = await ask(path);
      assert.deepEqual([next.status, next.body, statusOf(next)], [200, '"whole"', 'Miss'], what);
    }
  });
});
