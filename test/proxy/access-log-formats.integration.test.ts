import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openClient, type RawClient } from '../support/raw-client.ts';
import { type Rig, startRig } from '../support/rig.ts';
import { until } from '../support/until.ts';

async function request(client: RawClient, target: string, headers = ''): Promise<number> {
  client.write(`GET ${target} HTTP/1.1\r\nHost: a.test\r\n${headers}\r\n`);
  return (await client.readResponse()).status;
}

async function linesOf(path: string, count: number): Promise<readonly string[]> {
  let lines: readonly string[] = [];
  await until(async () => {
    const text = await readFile(path, 'latin1').catch(() => '');
    lines = text.split('\n').slice(0, -1);
    return lines.length >= count;
  });
  return lines;
}

describe('an access log in JSON', () => {
  let rig: Rig;
  before(async () => {
    rig = await startRig({
      env: {
        KONG_PROXY_ACCESS_LOG: 'access.log json',
        KONG_ADMIN_ACCESS_LOG: 'admin.log json',
        KONG_STATUS_ACCESS_LOG: 'status.log json',
      },
    });
  });
  after(() => rig.close());

  it('has one valid object per line, whatever clients send', async () => {
    using client = await openClient(rig.port);
    await request(
      client,
      '/a"b\\?token=s3cret&x=1',
      'User-Agent: \xff "},{"forged":1\xc3\xa9\r\nReferer: http://r/?apikey=s3cret\r\n',
    );
    client.write('not "http" \\ at all\r\n\r\n');
    await client.readToEnd();
    const lines = await linesOf(join(rig.gateway.prefix, 'access.log'), 2);
    const [first, second] = lines.map((line) => JSON.parse(line));
    assert.equal(first.uri, '/a"b\\?token=REDACTED&x=1');
    assert.equal(first.user_agent, '\ufffd "},{"forged":1é');
    assert.equal(first.referer, 'http://r/?apikey=REDACTED');
    assert.deepEqual(
      [first.method, first.host, first.status, first.service, first.route, first.consumer],
      ['GET', 'a.test', 200, 'backend', 'all', null],
    );
    assert.match(first.upstream_addr, /^127\.0\.0\.1:\d+$/);
    assert.ok(first.request_time >= 0 && first.request_time < 10);
    assert.ok(Math.abs(Date.parse(first.time) - Date.now()) < 60_000);
    assert.equal(second.status, 400);
    assert.equal(second.upstream_addr, null);
    assert.equal(lines.length, 2);
  });

  it('is written for the Admin API and the status API, each in its own file', async () => {
    await fetch(`${rig.gateway.statusUrl}/status?apikey=s3cret`);
    await fetch(`${rig.gateway.adminUrl}/services?tags=a`, { headers: { 'User-Agent': 'me' } });
    const [status] = await linesOf(join(rig.gateway.prefix, 'status.log'), 1);
    assert.equal(JSON.parse(status ?? '').uri, '/status?apikey=REDACTED');
    const admin = (await linesOf(join(rig.gateway.prefix, 'admin.log'), 3)).map((line) => JSON.parse(line));
    const last = admin.at(-1);
    assert.deepEqual([last.method, last.uri, last.status, last.user_agent], ['GET', '/services?tags=a', 200, 'me']);
    assert.equal(last.host, '127.0.0.1');
  });
});

describe('a custom log format', () => {
  it('defines the line', async () => {
    await using rig = await startRig({
      env: {
        KONG_NGINX_HTTP_LOG_FORMAT: `mine '$request_method $uri [$arg_x] $status "$http_x_own" "$sent_http_x_kong_upstream_status" $service_name $remote_user'`,
        KONG_PROXY_ACCESS_LOG: 'access.log mine',
      },
    });
    using client = await openClient(rig.port);
    await request(client, '/a//b?x=%0d%0a1', 'X-Own: "\\\x80\r\n');
    const lines = await linesOf(join(rig.gateway.prefix, 'access.log'), 1);
    assert.equal(lines[0], 'GET /a/b [%0d%0a1] 200 "\\x22\\x5C\\x80" "-" backend -');
  });

  it('is written byte for byte with escape=none, except for line breaks', async () => {
    await using rig = await startRig({
      env: { KONG_NGINX_HTTP_LOG_FORMAT: `raw escape=none '$http_x|é'`, KONG_PROXY_ACCESS_LOG: 'access.log raw' },
    });
    using client = await openClient(rig.port);
    await request(client, '/', 'X: "\xc3\xa9\xff\t\\\r\n');
    const [line] = await linesOf(join(rig.gateway.prefix, 'access.log'), 1);
    assert.equal(line, '"\xc3\xa9\xff\\x09\\|\xc3\xa9');
  });
});

describe('sampling', () => {
  it('omits requests, except those with statuses that are always logged', async () => {
    await using rig = await startRig({
      env: {
        KONG_PROXY_ACCESS_LOG_SAMPLING: '0',
        KONG_PROXY_ACCESS_LOG_ALWAYS: '404, 5xx',
        KONG_PROXY_ACCESS_LOG: 'access.log',
      },
      route: { paths: ['/known'] },
    });
    using client = await openClient(rig.port);
    for (let round = 0; round < 20; round++) assert.equal(await request(client, `/known/${round}`), 200);
    assert.equal(await request(client, '/unknown'), 404);
    const lines = await linesOf(join(rig.gateway.prefix, 'access.log'), 1);
    assert.equal(lines.length, 1);
    assert.match(lines[0] ?? '', /"GET \/unknown HTTP\/1\.1" 404 /);
  });

  it('keeps about the configured fraction', async () => {
    await using rig = await startRig({
      env: {
        KONG_PROXY_ACCESS_LOG_SAMPLING: '0.5',
        KONG_PROXY_ACCESS_LOG: 'access.log',
        KONG_PROXY_ACCESS_LOG_ALWAYS: '404',
      },
      route: { paths: ['/known'] },
    });
    using client = await openClient(rig.port);
    for (let round = 0; round < 400; round++) await request(client, `/known/${round}`);
    await request(client, '/last');
    const path = join(rig.gateway.prefix, 'access.log');
    await until(async () => (await readFile(path, 'utf8').catch(() => '')).includes('/last'));
    const { length } = await linesOf(path, 1);
    assert.ok(length > 120 && length < 280, `${length} of 400`);
  });
});

describe('rotation', () => {
  it('loses no line and splits none while the file is moved under load', async () => {
    await using rig = await startRig({ settings: { workers: 2 } });
    const path = join(rig.gateway.prefix, 'access.log');
    let sent = 0;
    let loading = true;
    const clients = await Promise.all(Array.from({ length: 8 }, () => openClient(rig.port)));
    const load = clients.map(async (client) => {
      while (loading) assert.equal(await request(client, `/n/${++sent}`, `User-Agent: ${'u'.repeat(200)}\r\n`), 200);
    });
    const moved: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      const before = sent;
      await until(() => sent > before + 200);
      moved.push(`${path}.${turn}`);
      await rename(path, `${path}.${turn}`);
      rig.gateway.gateway.reopenLogs();
      await until(() => existsSync(path));
    }
    loading = false;
    await Promise.all(load);
    for (const client of clients) client.close();
    const all = async (): Promise<readonly string[]> =>
      (await Promise.all([...moved, path].map((file) => readFile(file, 'utf8')))).flatMap((text) =>
        text.split('\n').slice(0, -1),
      );
    await until(async () => (await all()).length >= sent);
    const lines = await all();
    const seen = lines.map((line) =>
      Number(
        /^127\.0\.0\.1 - - \[[^\]]+\] "GET \/n\/(\d+) HTTP\/1\.1" 200 \d+ "-" "u{200}" kong_request_id: "[0-9a-f]{32}"$/.exec(
          line,
        )?.[1] ?? line,
      ),
    );
    assert.deepEqual(
      seen.toSorted((a, b) => a - b),
      Array.from({ length: sent }, (_, index) => index + 1),
    );
  });
});

describe('a full disk', () => {
  it('affects no request, and lost lines are counted', {
    skip: existsSync('/dev/full') ? false : 'needs /dev/full',
  }, async () => {
    await using rig = await startRig({ settings: { proxyAccessLog: '/dev/full', adminAccessLog: '/dev/full' } });
    await rig.write('POST', '/plugins', { name: 'prometheus' });
    using client = await openClient(rig.port);
    for (let round = 0; round < 50; round++) assert.equal(await request(client, '/'), 200);
    await until(async () => {
      const page = await (await fetch(`${rig.gateway.statusUrl}/metrics`)).text();
      // This includes lines of the Admin API: the writes of the rig, and the plugin.
      return /^sluicegate_log_lines_dropped_total 53$/m.test(page);
    });
    assert.equal(await request(client, '/'), 200);
  });
});
