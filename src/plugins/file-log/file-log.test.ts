import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import fileLog from './index.ts';

const folder = mkdtempSync(join(tmpdir(), 'file-log-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const path = join(folder, 'requests.log');

test('refuses invalid paths and names the field', async () => {
  const { check } = testPlugin(fileLog);
  const cases: [unknown, string][] = [
    [undefined, 'required field missing'],
    ['', 'length must be at least 1'],
    ...[...'*&%\\`\n\x7f'].map((character): [string, string] => [`/tmp/a${character}b`, 'not a valid filename']),
    ['/var/log/../../etc/cron.d/x', "must not contain '..'"],
    ['../x.log', "must not contain '..'"],
    ['/var/log/', 'must name a file, not a folder'],
    ['.', 'must name a file, not a folder'],
    [7, 'expected a string'],
  ];
  for (const [value, problem] of cases) {
    const checked = await check(value === undefined ? {} : { path: value });
    assert.ok(!checked.ok);
    assert.equal(checked.message, `schema violation (config.path: ${problem})`);
  }
  for (const value of ['/dev/stdout', 'logs/a..b.log', '/var/log/räksmörgås 1.log']) {
    assert.ok((await check({ path: value })).ok, value);
  }
  assert.equal((await check({ path, custom_fields: { x: '$(nonsense' } })).ok, false);
});

test('writes a request as one line of JSON, whatever its headers contain, with secrets masked', async () => {
  const { request, stream, drain, dispose, counts } = testPlugin(fileLog, {
    config: { path, custom_fields: { 'app.tenant': "$(headers['x-tenant'])", 'request.size': '' } },
  });
  await request({
    path: '/a?apikey=k1&b=%0d%0a{}',
    headers: { Authorization: 'Bearer t1', 'X-Tenant': 'acme\x85"}', 'X-Odd': '{"a":\t"b"}' },
  });
  await stream({ received: 3 });
  await drain();
  await dispose();
  const text = readFileSync(path, 'utf8');
  assert.doesNotMatch(text, /k1|t1/);
  assert.match(text, /^[^\r\n]+\n[^\r\n]+\n$/);
  const [first, second] = text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(first.app.tenant, 'acme\x85"}');
  assert.equal('size' in first.request, false);
  assert.equal(first.request.headers.authorization, 'REDACTED');
  assert.equal(second.session.received, 3);
  assert.equal(counts.size, 0);
});

test('counts a line that cannot be written, and does not affect the request', async () => {
  const { request, counts, logLines, drain } = testPlugin(fileLog, {
    config: { path: join(folder, 'missing', 'x.log'), custom_fields_by_lua: { a: "return 'x'" } },
  });
  assert.equal((await request()).response.status, 200);
  await drain();
  assert.equal(counts.get('file-log.lines_lost'), 1);
  assert.match(JSON.stringify(logLines), /ENOENT/);
});
