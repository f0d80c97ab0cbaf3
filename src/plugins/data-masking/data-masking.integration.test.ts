import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { answer, answerEach, type BackendRequest } from '../../../test/support/raw-backend.ts';
import { exchangeOne } from '../../../test/support/raw-client.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';
import { until } from '../../../test/support/until.ts';

const impersonate = fileURLToPath(new URL('../../../test/support/plugins/impersonate.ts', import.meta.url));
const recorder = fileURLToPath(new URL('../../../test/support/plugins/record-logger.ts', import.meta.url));

const json = 'Content-Type: application/json\r\n';
const users = '{"users":[{"name":"ada","mail":"ada@example.com","id":12345678901234567890}]}';
const masked = '{"users":[{"name":"***","mail":"***@example.com","id":12345678901234567890}]}';

const rules = [
  {
    name: 'names',
    json_paths: ['$.users[*].name', '$.name'],
    headers: ['X-Name'],
    query_arguments: ['name'],
    except_groups: ['staff'],
  },
  { name: 'mail', kinds: ['email'], action: 'keep_domain' },
];

describe('masking through a gateway', () => {
  let rig: Rig;
  let asked = 0;

  before(async () => {
    rig = await startRig({
      script: answerEach((request) => {
        asked++;
        return answerTo(request);
      }),
      settings: { workers: 2, plugins: ['data-masking', 'acl', 'proxy-cache', impersonate, recorder] },
    });
    await rig.write('POST', '/plugins', { name: 'record-logger' });
    await rig.write('PUT', '/consumers/ada', {});
    await rig.write('PUT', '/consumers/bob', {});
    await rig.write('POST', '/consumers/ada/acls', { group: 'staff' });
    for (const name of ['open', 'named', 'cached']) {
      await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: false });
      await rig.write('POST', `/routes/${name}/plugins`, { name: 'data-masking', config: { rules } });
      if (name !== 'open') await rig.write('POST', `/routes/${name}/plugins`, { name: 'impersonate' });
    }
    const config = { strategy: 'memory', content_type: ['application/json'], cache_control: true };
    await rig.write('POST', '/routes/cached/plugins', { name: 'proxy-cache', config });
  });
  after(() => rig.close());

  function answerTo({ target }: BackendRequest): string {
    const path = target.replace(/\?.*/, '');
    const etag = 'ETag: "v1"\r\nAccept-Ranges: bytes\r\n';
    if (path.endsWith('/gzip'))
      return answer(gzipSync(users).toString('latin1'), `${json}${etag}Content-Encoding: gzip\r\n`);
    if (path.endsWith('/part')) return answer(users, `${json}Content-Range: bytes 0-9/99\r\n`, '206 Partial Content');
    if (path.endsWith('/broken')) return answer('{"users":', json);
    if (path.endsWith('/image')) return answer('PNG', 'Content-Type: image/png\r\n');
    if (path.endsWith('/public')) return answer(users, `${json}${etag}Cache-Control: public, max-age=60\r\n`);
    return answer(users, `${json}${etag}X-Name: ada\r\n`);
  }

  function get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Response> {
    return fetch(rig.gateway.proxyUrl + path, { headers: { connection: 'close', ...headers } });
  }

  it('responses are masked, also compressed ones, with the correct length', async () => {
    for (const path of ['/open', '/open/gzip']) {
      const response = await get(path);
      assert.equal(response.status, 200);
      assert.equal(await response.text(), masked);
      assert.equal(response.headers.get('content-length'), String(masked.length));
      assert.equal(response.headers.get('content-encoding'), null);
      assert.match(response.headers.get('etag') ?? '', /^W\/"v1-m/);
    }
    assert.equal((await get('/open')).headers.get('x-name'), '***');
  });

  it('HEAD has the headers of GET, without a wrong length', async () => {
    const head = await exchangeOne(rig.port, 'HEAD /open HTTP/1.1\r\nHost: a\r\n\r\n', 'HEAD');
    assert.equal(head.status, 200);
    assert.match(head.get('etag') ?? '', /^W\/"v1-m/);
    assert.equal(head.get('x-name'), '***');
    assert.notEqual(head.get('content-length'), String(users.length));
    assert.equal(head.get('accept-ranges'), undefined);
  });

  it('a response that cannot be masked is not sent', async () => {
    for (const path of ['/open/part', '/open/broken', '/open/image']) {
      const response = await get(path);
      assert.equal(response.status, 502, path);
      assert.doesNotMatch(await response.text(), /\bada\b|PNG/);
    }
  });

  it('requests are masked, or refused', async () => {
    const post = (type: string, body: string) =>
      fetch(`${rig.gateway.proxyUrl}/open?name=ada&x=1`, {
        method: 'POST',
        headers: { 'Content-Type': type, 'X-Name': 'ada', Range: 'bytes=0-1', connection: 'close' },
        body,
      });
    assert.equal((await post('application/json', '{"name":"ada","to":["bob@example.org"]}')).status, 200);
    const seen = rig.backend.requests.at(-1);
    assert.equal(seen?.body, '{"name":"***","to":["***@example.org"]}');
    assert.equal(seen?.get('content-length'), String(seen?.body.length));
    assert.equal(seen?.target, '/open?name=***&x=1');
    assert.equal(seen?.get('x-name'), '***');
    assert.equal(seen?.get('range'), undefined);
    const before = asked;
    assert.equal((await post('application/json', '{"name":')).status, 400);
    assert.equal((await post('application/octet-stream', '{}')).status, 415);
    assert.equal((await post('application/json', `"${'x'.repeat(1_100_000)}"`)).status, 413);
    assert.equal(asked, before);
  });

  it('groups see unmasked values, also from the cache, which stores the original', async () => {
    const seen = async (as: string) => {
      const response = await get('/cached/public', { As: as });
      assert.equal(response.headers.get('cache-control'), 'private, max-age=60');
      return {
        text: await response.text(),
        cache: response.headers.get('x-cache-status'),
        etag: response.headers.get('etag'),
      };
    };
    const forStaff = masked.replace('"***"', '"ada"');
    const before = asked;
    const first = await seen('bob');
    assert.equal(first.text, masked);
    const answers = await Promise.all(Array.from({ length: 8 }, (_, turn) => seen(turn % 2 === 0 ? 'ada' : 'bob')));
    for (const [turn, { text }] of answers.entries()) assert.equal(text, turn % 2 === 0 ? forStaff : masked);
    assert.ok(answers.some(({ cache }) => cache === 'Hit'));
    assert.equal(asked, before + 1);
    assert.notEqual(answers[0]?.etag, answers[1]?.etag);
  });

  it('ranges and conditions that the cache answers match the response of the client', async () => {
    const first = await get('/cached/public', { As: 'bob' });
    const tag = first.headers.get('etag') ?? '';
    assert.equal(await first.text(), masked);
    const part = await get('/cached/public', { As: 'bob', Range: 'bytes=0-9' });
    assert.equal(part.status, 200);
    assert.equal(await part.text(), masked);
    // fetch would also send Cache-Control: no-cache.
    const ask = (as: string) =>
      exchangeOne(
        rig.port,
        `GET /cached/public HTTP/1.1\r\nHost: 127.0.0.1:${rig.port}\r\nAs: ${as}\r\nIf-None-Match: ${tag}\r\n\r\n`,
      );
    const same = await ask('bob');
    assert.equal(same.status, 304);
    assert.equal(same.get('etag'), tag);
    // With other rules it is another body.
    const other = await ask('ada');
    assert.equal(other.status, 200);
    assert.match(other.body, /"name":"ada"/);
  });

  it('an exception ends with the membership', async () => {
    const text = async () => (await get('/named', { As: 'ada' })).text();
    assert.match(await text(), /"name":"ada"/);
    await rig.write('DELETE', '/consumers/ada/acls/staff');
    assert.match(await text(), /"name":"\*\*\*"/);
    await rig.write('POST', '/consumers/ada/acls', { group: 'staff' });
    assert.match(await text(), /"name":"ada"/);
  });

  it('no log file contains masked values, for any outcome of a request', async () => {
    const secret = 'carol';
    const headers = {
      'X-Name': secret,
      Referer: `http://x.test/?name=${secret}`,
      'User-Agent': `${secret}@example.com`,
    };
    const query = `?name=${secret}&mail=${secret}%40example.com`;
    for (const path of ['/open', '/named', '/open/broken', '/open/part'])
      await (await get(path + query, headers)).text();
    await (await get(`/named${query}`, { ...headers, As: 'ada' })).text();
    const upgrade = await exchangeOne(
      rig.port,
      `GET /open${query} HTTP/1.1\r\nHost: a\r\nX-Name: ${secret}\r\nUpgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    );
    assert.equal(upgrade.status, 400);
    await until(async () => ((await logsOf(rig.gateway.prefix))['access.log'] ?? '').split('name=***').length > 6);
    for (const [name, text] of Object.entries(await logsOf(rig.gateway.prefix)))
      assert.ok(!text.includes(secret), name);
  });

  it('returns masked samples, and stores nothing', async () => {
    const preview = (body: unknown) => rig.gateway.admin('POST', '/data-masking/preview', body);
    const shown = await preview({
      config: { rules },
      content_type: 'application/json',
      body: users,
      query: 'name=ada',
      direction: 'request',
    });
    assert.deepEqual(shown.body, { body: masked, query: 'name=***', logged_query: 'name=***' });
    assert.equal((await preview({ config: { rules: [{ name: 'x' }] }, body: '{}' })).status, 400);
    assert.equal((await preview({ config: { rules }, body: '{' })).status, 400);
    assert.equal((await preview({})).status, 400);
  });
});

async function logsOf(prefix: string): Promise<Readonly<Record<string, string>>> {
  const names = (await readdir(prefix)).filter((name) => name.endsWith('.log'));
  const texts = await Promise.all(names.map((name) => readFile(join(prefix, name), 'utf8')));
  return Object.fromEntries(names.map((name, at) => [name, texts[at] ?? '']));
}
