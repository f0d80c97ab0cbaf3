import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { test } from 'node:test';
import { type KongStandIn, type StandInOptions, startKongStandIn } from '../../../../../test/support/kong.ts';
import { runCommand } from '../../../testing/run-command.ts';
import { kongRows, plugin, service, withRows } from '../kong-rows.fixture.ts';
import { KongClient } from './kong-client.ts';
import { sourceLimits } from './source-limits.ts';

const rows = kongRows({});

async function dryRun(options: Partial<StandInOptions>, ...more: readonly string[]) {
  await using kong = await startKongStandIn({ rows, ...options });
  return { ...(await importFrom(kong, ...more)), requests: kong.requests };
}

function importFrom(kong: KongStandIn, ...more: readonly string[]) {
  return runCommand(tmpdir(), 'import', 'kong', '--admin-url', kong.url, '--dry-run', ...more);
}

/** Answers one path in another way than Kong would. */
function at(path: string, answer: (response: ServerResponse) => void): Partial<StandInOptions> {
  return {
    instead: (_request, response, given) => {
      if (given !== path) return false;
      answer(response);
      return true;
    },
  };
}

const refused: readonly (readonly [string, Partial<StandInOptions>, RegExp])[] = [
  [
    'pages that lead to themselves',
    at('/routes', (response) => response.end('{"data":[{"id":"a"}],"offset":"again"}')),
    /^Error: cannot read http:\S+\/routes: its pages do not end$/,
  ],
  [
    'empty pages that lead to others',
    at('/routes', (response) => response.end('{"data":[],"offset":"more"}')),
    /its pages do not end/,
  ],
  [
    'a redirect to another host',
    at('/services', (response) => response.writeHead(302, { Location: 'http://198.51.100.1/services?token=1' }).end()),
    /^Error: cannot read \S+\/services: it redirects to http:\/\/198\.51\.100\.1\/services; give the final URL with --admin-url$/,
  ],
  [
    'rows of another type',
    at('/services', (response) => response.end('{"data":["a"]}')),
    /an element of services is not an entity with an id/,
  ],
  [
    'something else than a list',
    at('/services', (response) => response.end('{"data":7}')),
    /is not a list of the Admin/,
  ],
  [
    'a member __proto__',
    at('/services', (response) => response.end('{"data":[{"id":"a","__proto__":{"name":"b"}}]}')),
    /is not a list of the Admin/,
  ],
  [
    'JSON of a thousand levels',
    at('/services', (response) => response.end(`{"data":${'['.repeat(1000)}${']'.repeat(1000)}}`)),
    /is not a list of the Admin/,
  ],
  [
    'a server that is no Kong',
    at('/', (response) => response.end('{"message":"hello"}')),
    /is not the Admin API of a Kong/,
  ],
  ['an older Kong', { version: '2.8.1' }, /Kong 2\.8\.1 is too old/],
  ['a collection that fails', { statuses: { '/plugins': 403 } }, /\/plugins answers 403: pass a token/],
];

for (const [what, options, message] of refused) {
  test(`refuses ${what}`, async () => {
    const { code, errors } = await dryRun(options);
    assert.match(errors, message);
    assert.equal(code, 1);
  });
}

test('an answer that is too large is not read to its end', async () => {
  let sent = 0;
  const piece = Buffer.alloc(1024 * 1024, 0x20);
  const { errors } = await dryRun(
    at('/services', (response) => {
      const more = (): void => {
        while (!response.destroyed && sent < 200 && response.write(piece)) sent++;
        if (sent < 200) response.once('drain', more);
      };
      more();
    }),
  );
  assert.match(errors, /the answer is larger than 67108864 bytes/);
  assert.ok(sent < 200, `${sent} MiB were read`);
});

test('a server that answers too slowly ends the import in time', async () => {
  await using kong = await startKongStandIn({ rows, instead: () => true });
  const limits = { ...sourceLimits, requestTimeout: 50, attempts: 2 };
  const client = new KongClient({ url: kong.url, headers: {}, insecure: false, limits });
  await assert.rejects(client.get('/services'), /cannot read \S+\/services: no answer in time/);
  assert.equal(kong.requests.length, 2, 'each attempt has a timeout');
  const impatient = new KongClient({
    url: kong.url,
    headers: {},
    insecure: false,
    limits: { ...limits, totalTimeout: 1 },
  });
  await assert.rejects(impatient.get('/services'), /cannot read/);
});

test('a failure that passes is retried', async () => {
  let failures = 2;
  const { code, output } = await dryRun({
    instead: (_request, response, path) => {
      if (path !== '/consumers' || failures === 0) return false;
      failures--;
      response.writeHead(503).end();
      return true;
    },
  });
  assert.equal(code, 0, output);
  assert.match(output, /^ {2}consumers +2$/m);
});

test('a token, and a password in the URL, are sent and never shown', async () => {
  const missing = await dryRun({ token: 'of-kong' });
  assert.match(missing.errors, /answers 401: pass a token, for example --header 'Kong-Admin-Token: <token>'/);
  const wrong = await dryRun({ token: 'of-kong' }, '--header', 'Kong-Admin-Token: wrong-token');
  assert.equal(wrong.code, 1);
  assert.doesNotMatch(wrong.errors, /wrong-token/);
  assert.equal((await dryRun({ token: 'of-kong' }, '--header', 'Kong-Admin-Token: of-kong')).code, 0);
  const broken = await dryRun({}, '--header', 'Kong-Admin-Token: se\u0001cret');
  assert.match(broken.errors, /^Error: --header has characters/);
  assert.doesNotMatch(broken.errors, /cret/);
  const seen: unknown[] = [];
  await using kong = await startKongStandIn({
    rows,
    instead: (request) => {
      seen.push(request.headers.authorization);
      return false;
    },
  });
  const url = kong.url.replace('//', '//ops:p%40ss@');
  const { code, output } = await runCommand(tmpdir(), 'import', 'kong', '--admin-url', url, '--dry-run');
  assert.equal(code, 0);
  assert.equal(seen[0], `Basic ${Buffer.from('ops:p@ss').toString('base64')}`);
  assert.doesNotMatch(output, /p@ss|p%40ss/);
});

test('names with control characters cannot write to the terminal', async () => {
  const name = 'a\u001b[2J\u0007b';
  const { output } = await dryRun({ rows: withRows(rows, { '/plugins': [plugin(90, name, {})] }) });
  assert.match(output, /plugin a\?\[2J\?b: the gateway has no such plugin/);
  assert.equal(output.includes('\u001b'), false);
});

test('values of the wrong type are reported, without secrets', async () => {
  const odd = service(91, 'odd', { port: 'eighty', retries: { a: 1 } });
  const key = { id: '00000005-0000-4000-8000-000000000099', consumer: { id: odd['id'] }, key: 'key-of-ada' };
  const { code, output } = await dryRun({ rows: withRows(rows, { '/services': [odd], '/key-auths': [key] }) });
  assert.equal(code, 2);
  assert.match(output, /^ {2}- service odd: .*port: expected an integer/m);
  assert.doesNotMatch(output, /key-of-ada/, 'a key that exists twice');
});

test('collections of Enterprise may be missing, forbidden or there', async () => {
  const open = await dryRun({
    rows: withRows(rows, {
      '/workspaces': [
        { id: 'w1', name: 'default' },
        { id: 'w2', name: 'team b' },
      ],
      '/consumer_groups': [{ id: '00000020-0000-4000-8000-000000000001', name: 'gold' }],
    }),
    statuses: { '/filter-chains': 400, '/vaults': 403 },
  });
  assert.equal(open.code, 2);
  assert.match(open.output, /workspace team b: .*\n.*--admin-url \S+\/team%20b/);
  assert.match(open.output, /consumer group gold: there are no consumer groups/);
  assert.match(open.output, /vaults: Kong refuses to show it \(403\)/);
  const closed = await dryRun({ statuses: { '/acls': 403, '/vaults': 403 } });
  assert.match(closed.output, /^Nothing is written until you accept these losses: --without acls$/m);
});
