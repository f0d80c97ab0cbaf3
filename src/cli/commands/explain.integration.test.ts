import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { answer, answerEach, type RawBackend, startRawBackend } from '../../../test/support/raw-backend.ts';
import { until } from '../../../test/support/until.ts';

/** The command and the node run in processes of their own and share the prefix. */

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
const prefix = mkdtempSync(join(tmpdir(), 'sluicegate-explain-'));
let backend: RawBackend;
/** Closes every connection when a request comes. */
let closing: RawBackend;
let silent: RawBackend;
/** Answers any bytes in plain text. */
let noTls: RawBackend;
let stop: () => Promise<void>;
let admin: string;

interface Printed {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

async function cli(argv: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Printed> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', main, ...argv], { env, cwd: prefix });
  let out = '';
  let err = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  await once(child, 'close');
  return { code: child.exitCode ?? -1, out, err };
}

const explain = (...argv: readonly string[]): Promise<Printed> => cli(['explain', '-p', prefix, ...argv]);

async function write(path: string, body: unknown): Promise<void> {
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(admin + path, { method: 'PUT', headers, body: JSON.stringify(body) });
  assert.ok(response.ok, `${path}: ${await response.text()}`);
}

before(async () => {
  backend = await startRawBackend(
    answerEach(() => answer('hello', 'X-Odd: \x9b31mred\r\nX-Odd: \xe2\x80\xaegnp.exe\r\n')),
  );
  closing = await startRawBackend((connection) => {
    connection.socket.once('data', () => connection.socket.destroy());
  });
  silent = await startRawBackend(() => {});
  noTls = await startRawBackend((connection) => connection.write('HTTP/1.1 400 Bad Request\r\n\r\n'));
  const env = {
    KONG_PREFIX: prefix,
    KONG_PROXY_LISTEN: '127.0.0.1:0',
    KONG_ADMIN_LISTEN: '127.0.0.1:0',
    KONG_STATUS_LISTEN: 'off',
    KONG_ADMIN_GUI_LISTEN: 'off',
    KONG_NGINX_WORKER_PROCESSES: '1',
    NODE_COMPILE_CACHE: join(import.meta.dirname, '../../../.runtime/compile-cache'),
  };
  const argv = ['--disable-warning=ExperimentalWarning', main, 'start'];
  const node = spawn(process.execPath, argv, { env, cwd: prefix, stdio: ['ignore', 'pipe', 'inherit'] });
  let printed = '';
  node.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  await until(() => /admin +http:\S+/.test(printed));
  admin = /admin +(http:\S+)/.exec(printed)?.[1] ?? '';
  stop = async () => {
    const ended = once(node, 'close');
    node.kill('SIGTERM');
    await ended;
  };
  await write('/services/api', { url: backend.url });
  await write('/services/api/routes/users', { hosts: ['x.test'], paths: ['/users'] });
  await write('/services/api/routes/orders', { paths: ['/orders'], methods: ['POST'] });
});
after(async () => {
  await stop();
  await backend.close();
  await closing.close();
  await silent.close();
  await noTls.close();
  rmSync(prefix, { recursive: true, force: true });
});

test('the running node is found by its prefix; what happened comes first, then why', async () => {
  const { code, out, err } = await explain('GET', '/users/42?token=abc', '-H', 'Host: x.test', '-H', 'X-Extra: 1');
  assert.equal(err, '');
  assert.equal(code, 0);
  const lines = out.split('\n');
  assert.match(
    lines[0] ?? '',
    /^GET \/users\/42 matched the route users and was answered 200 .* by the backend at 127/,
  );
  assert.match(lines[1] ?? '', /carried out/);
  assert.match(out, /^Request +GET http:\/\/x\.test\/users\/42\?token=REDACTED/m);
  assert.match(out, /^Route +users, of the service api; one of 2$/m);
  assert.match(out, /^ +host +x\.test +is x\.test$/m);
  assert.match(out, /^Others +orders +path \/users\/42 is not below \/orders \(and 1 more\)$/m);
  assert.match(out, /^Attempts +1 +127\.0\.0\.1:\d+ +[\d.]+ ms +new connection +answered 200$/m);
  assert.match(out, /^Time line/m);
  // Nothing that a backend sends controls the terminal, and colours are for terminals.
  assert.doesNotMatch(out, /[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  const sent = backend.requests.at(-1);
  assert.equal(sent?.get('x-extra'), '1');
  assert.doesNotMatch(sent?.raw ?? '', /debug|explain/i);
});

test('a URL stands for path and host; a body makes it a POST', async () => {
  const byUrl = await explain('http://x.test/users/7');
  assert.match(byUrl.out, /^GET \/users\/7 matched the route users/);
  const posted = await explain('/orders', '-d', '{"a":1}', '--json');
  assert.equal(posted.code, 0);
  const document = JSON.parse(posted.out);
  assert.equal(document.explain, 1);
  assert.equal(document.request.method, 'POST');
  assert.equal(document.request.headers['content-type'], 'application/json');
  assert.equal(backend.requests.at(-1)?.body, '{"a":1}');
  writeFileSync(join(prefix, 'body.txt'), 'a=b');
  await explain('POST', '/orders', '-d', '@body.txt');
  assert.equal(backend.requests.at(-1)?.body, 'a=b');
  // JSON allows them; terminals interpret them.
  assert.doesNotMatch(posted.out, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/);
  assert.deepEqual(document.answer.headers['x-odd'], ['\x9b31mred', '\u202egnp.exe']);
  const head = await explain('HEAD', 'http://x.test/users');
  assert.match(head.out, /^HEAD \/users matched the route users/);
  assert.equal(backend.requests.at(-1)?.method, 'HEAD');
});

test('without a matching route the exit code is 1, and the nearest routes are shown', async () => {
  const { code, out } = await explain('/orders/1');
  assert.equal(code, 1);
  assert.match(out, /^GET \/orders\/1 matched no route, and was answered 404/);
  assert.match(out, /^Nearest +orders +method GET is not POST$/m);
});

test('a dry run sends nothing', async () => {
  const seen = backend.requests.length;
  const { code, out } = await explain('http://x.test/users', '--dry-run');
  assert.equal(code, 0);
  assert.match(out, /^GET \/users matched the route users and would go to 127\.0\.0\.1:\d+, service api$/m);
  assert.match(out, /^Dry run: no backend was contacted/m);
  assert.equal(backend.requests.length, seen);
});

test('with --proxy and --token no prefix is needed; a token that is not valid is reported', async () => {
  const addresses = JSON.parse(readFileSync(join(prefix, 'pids/addresses.json'), 'utf8'));
  const token = readFileSync(join(prefix, 'request_debug_token'), 'utf8').trim();
  const proxy = `http://127.0.0.1:${addresses.proxy[0].port}`;
  const given = await cli(['explain', 'http://x.test/users', '--proxy', proxy, '--token', token]);
  assert.equal(given.code, 0);
  assert.match(given.out, /matched the route users/);
  const wrong = await cli(['explain', 'http://x.test/users', '--proxy', proxy, '--token', 'wrong']);
  assert.equal(wrong.code, 1);
  assert.match(wrong.err, /answered 200 without an explanation: the token is not valid/);
  assert.ok(!wrong.err.includes('wrong'));
});

test('a route without a name is shown by its paths', async () => {
  const id = '11111111-2222-4333-8444-555555555555';
  await write('/services/api/routes/11111111-2222-4333-8444-555555555555', { paths: ['/plain', '/simple'] });
  const { out } = await explain('/plain/1');
  assert.match(out, /^GET \/plain\/1 matched the route \/plain, \/simple and was answered 200/);
  assert.match(out, new RegExp(`^Route +/plain, /simple \\(${id}\\), of the service api`, 'm'));
});

test('why a backend could not be reached is shown', async () => {
  const causes: readonly (readonly [name: string, service: object, cause: RegExp])[] = [
    ['refused', { url: 'http://127.0.0.1:1' }, /connect ECONNREFUSED 127\.0\.0\.1:1/],
    ['unknown', { url: 'http://no-such-name.invalid' }, /no-such-name\.invalid: dns .*error/],
    ['no-tls', { url: noTls.url.replace('http:', 'https:') }, /TLS handshake failed: .*\(ERR_SSL_\w+\)/],
    ['slow', { url: silent.url, read_timeout: 150 }, /no answer within 150 ms/],
    ['closing', { url: closing.url }, /the backend closed the connection before it answered/],
  ];
  for (const [name, service, cause] of causes) {
    await write(`/services/${name}`, { retries: 0, ...service });
    await write(`/services/${name}/routes/${name}`, { paths: [`/${name}`] });
    const { out } = await explain(`/${name}`);
    assert.match(out.split('\n')[0] ?? '', new RegExp(`answered 50[234] .*; cause: .*${cause.source}`), out);
    assert.match(out, new RegExp(`^ +because +.*${cause.source}`, 'm'));
  }
});

test('an error is reported in one line', async () => {
  const elsewhere = join(prefix, 'elsewhere');
  const cases: readonly (readonly [readonly string[], RegExp])[] = [
    [['-p', elsewhere, '/x'], /^Error: Sluicegate is not running in /],
    [['-p', prefix], /^Error: usage: sluicegate explain/],
    [['-p', prefix, 'users'], /'users' is neither a path .* nor a URL/],
    [['-p', prefix, 'G T', '/x'], /'G T' is not a method/],
    [['-p', prefix, '/x', '-H', 'nonsense'], /'nonsense' is not a header/],
    [['-p', prefix, '/x', '-H', 'Content-Length: 7'], /derived from the body of --data/],
    [['-p', prefix, '/x', '-d', '@nowhere'], /cannot read nowhere/],
    [['/x', '--proxy', 'ftp://x', '--token', 't'], /--proxy is not the http or https URL/],
    [['/x', '--proxy', 'http://127.0.0.1:1', '--token', 't'], /no answer from http:\/\/127\.0\.0\.1:1: .*ECONNREFUSED/],
  ];
  const results = await Promise.all(cases.map(([argv]) => cli(['explain', ...argv])));
  for (const [at, { code, err, out }] of results.entries()) {
    assert.equal(code, 1);
    assert.equal(out, '');
    assert.match(err, cases[at]?.[1] as RegExp);
    assert.equal(err.trim().split('\n').length, 1, err);
  }
});
