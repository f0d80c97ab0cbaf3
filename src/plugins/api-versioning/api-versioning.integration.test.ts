import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { answer, answerEach, type RawBackend, startRawBackend } from '../../../test/support/raw-backend.ts';
import { type Rig, startRig } from '../../../test/support/rig.ts';

interface Usage {
  readonly version: string | null;
  readonly consumer: { readonly username?: string } | null;
  readonly other: boolean;
  readonly count: number;
  readonly last_seen: number;
}

let rig: Rig;
let old: RawBackend;
let serial = 0;

before(async () => {
  rig = await startRig({
    script: answerEach(({ target }) => answer(`own ${target}`)),
    settings: { plugins: ['api-versioning', 'key-auth'], workers: 2 },
  });
  await rig.write('PATCH', '/services/backend', { path: '/base' });
  old = await startRawBackend(answerEach(({ target }) => answer(`old ${target}`)));
  await rig.write('PUT', '/services/old', { url: `${old.url}/legacy` });
  for (const username of ['ada', 'bob']) {
    await rig.write('PUT', `/consumers/${username}`, {});
    await rig.write('POST', `/consumers/${username}/key-auth`, { key: `key-of-${username}` });
  }
});
after(async () => {
  await rig.close();
  await old.close();
});

/** A route with the plugin; returns its URL and the plugin's id. */
async function route(
  config: Readonly<Record<string, unknown>>,
  fields: Readonly<Record<string, unknown>> = {},
): Promise<{ readonly url: string; readonly id: string }> {
  const name = `r${serial++}`;
  await rig.write('PUT', `/services/backend/routes/${name}`, { paths: [`/${name}`], strip_path: true, ...fields });
  const { id } = await rig.write('POST', `/routes/${name}/plugins`, {
    name: 'api-versioning',
    config: { path_segment: 2, versions: [{ name: 'v1', service: 'old' }, { name: 'v2' }], ...config },
  });
  return { url: `${rig.gateway.proxyUrl}/${name}`, id: String(id) };
}

async function ask(url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const response = await fetch(url, { headers: { connection: 'close', ...headers } });
  return response.ok ? response.text() : String(response.status);
}

async function usage(query: string): Promise<readonly Usage[]> {
  const rows: Usage[] = [];
  let path: string | null = `/api-versions?${query}`;
  while (path !== null) {
    const { body }: { readonly body: Readonly<Record<string, unknown>> } = await rig.gateway.admin('GET', path);
    rows.push(...(body['data'] as readonly Usage[]));
    path = body['next'] as string | null;
    assert.equal(path === null, body['offset'] === undefined);
  }
  return rows;
}

test('sends a version to its service and path, without the stripped path and the version segment', async () => {
  const { url } = await route({});
  assert.equal(await ask(`${url}/v1/users?x=1`), 'old /legacy/users?x=1');
  assert.equal(await ask(`${url}/v2/users`), 'own /base/users');
  assert.equal(await ask(`${url}/v2`), 'own /base');
  assert.equal(await ask(`${url}/v3/users`), '404');
});

test('finds the version on a route that strips it, and on one that strips nothing', async () => {
  const stripped = await route({ path_segment: 1 }, { paths: ['/v1', '/v2'], strip_path: true });
  const root = stripped.url.slice(0, stripped.url.lastIndexOf('/'));
  assert.equal(await ask(`${root}/v1/users`), 'old /legacy/users');
  assert.equal(await ask(`${root}/v2/v2`), 'own /base/v2');
  await rig.gateway.admin('DELETE', `/routes/r${serial - 1}`);
  const kept = await route({}, { strip_path: false });
  const name = kept.url.slice(kept.url.lastIndexOf('/'));
  assert.equal(await ask(`${kept.url}/v2/users`), `own /base${name}/users`);
});

test('applies prefixes, and reads the version from a header', async () => {
  const versions = [
    { name: 'v1', service: 'old', path_prefix: '/a' },
    { name: 'v2', path_prefix: '/b' },
  ];
  const { url } = await route({ versions, sources: ['header'], default: 'v2' });
  assert.equal(await ask(`${url}/users`, { 'x-api-version': '1' }), 'old /legacy/a/users');
  assert.equal(await ask(`${url}/users`), 'own /base/b/users');
});

test('lists which client calls which version, exact over all workers, in pages', async () => {
  const { url, id } = await route({});
  await rig.write('POST', `/routes/r${serial - 1}/plugins`, { name: 'key-auth', config: { anonymous: 'bob' } });
  const headers = { apikey: 'key-of-ada' };
  await Promise.all(Array.from({ length: 40 }, (_, at) => ask(`${url}/v${1 + (at % 2)}/x`, at < 30 ? headers : {})));
  await ask(`${url}/v9/x`, headers);
  const rows = await usage(`plugin=${id}&size=2`);
  const shown = rows.map(({ version, consumer, count }) => [version, consumer?.username ?? null, count]);
  assert.deepEqual(shown.sort(), [
    [null, 'ada', 1],
    ['v1', 'ada', 15],
    ['v1', 'bob', 5],
    ['v2', 'ada', 15],
    ['v2', 'bob', 5],
  ]);
  const now = Date.now() / 1000;
  for (const row of rows) assert.ok(row.last_seen > now - 120 && row.last_seen <= now + 1);
  assert.equal((await usage(`plugin=${id}&version=v1&consumer=ada`)).length, 1);
  assert.equal((await usage(`plugin=${id}&consumer=nobody`)).length, 0);
  for (const query of ['size=0', 'size=x', 'size=1001', 'offset=!!']) {
    assert.equal((await rig.gateway.admin('GET', `/api-versions?${query}`)).status, 400, query);
  }
});

test('keeps the counts when the configuration changes, and deletes them with the instance', async () => {
  const { url, id } = await route({});
  await ask(`${url}/v1/x`);
  await rig.write('PATCH', `/plugins/${id}`, { config: { response_header: 'X-Version' } });
  const response = await fetch(`${url}/v1/x`);
  assert.equal(response.headers.get('x-version'), 'v1');
  assert.equal((await usage(`plugin=${id}`))[0]?.count, 2);
  await rig.gateway.admin('DELETE', `/plugins/${id}`);
  assert.deepEqual(await usage(`plugin=${id}`), []);
});
