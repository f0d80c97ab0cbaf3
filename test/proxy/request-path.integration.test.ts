import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { resolveImport } from '../../scripts/lib/import-law.ts';
import { scanImports } from '../../scripts/lib/import-scan.ts';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { countCalls } from '../support/call-counter.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { openClient } from '../support/raw-client.ts';

const root = join(import.meta.dirname, '../..');
const rootUrl = `${pathToFileURL(root).href}/`;
const listed = [
  ...readFileSync(join(root, 'src/data/request/handle-request.ts'), 'utf8').matchAll(/^ \* +\d+\. (src\/\S+\.ts): /gm),
].map(([, file]) => file as string);
const plain = listed.slice(0, 12);
/** Built with the snapshot, which imports it for that. During a request it is called for the route, and returns. */
const called = 'src/data/router/indexed-router.ts';
const requests = 200;

/** The files that run functions for every request of a client on the steady path. */
async function filesOfRequests(port: number, fields: string): Promise<readonly string[]> {
  using client = await openClient(port);
  const send = async (count: number): Promise<void> => {
    for (let sent = 0; sent < count; sent++) {
      client.write(`GET /a HTTP/1.1\r\nHost: a\r\n${fields}\r\n`);
      assert.equal((await client.readResponse()).status, 200);
    }
  };
  await send(10);
  using counter = await countCalls();
  await counter.begin();
  // The last calls for a request come after its answer, so those of the last one may not have been counted yet.
  await send(requests + 1);
  const urls = await counter.filesCalled(requests);
  return urls.filter((url) => url.startsWith(`${rootUrl}src/`)).map((url) => url.slice(rootUrl.length));
}

/** What a file can call by its imports, through other files that run. */
function reachable(from: string, running: ReadonlySet<string>): ReadonlySet<string> {
  const seen = new Set<string>();
  const visit = (file: string): void => {
    for (const { specifier, typeOnly } of scanImports(readFileSync(join(root, file), 'utf8'))) {
      if (typeOnly || !specifier.startsWith('.')) continue;
      const target = resolveImport(file, specifier);
      if (!running.has(target) || seen.has(target)) continue;
      seen.add(target);
      visit(target);
    }
  };
  visit(from);
  return seen;
}

/** Fails when a listed file does not run, or a request passes through a file that is not listed. */
function checkPath(expected: readonly string[], running: readonly string[]): void {
  const run = new Set(running);
  assert.deepEqual(
    expected.filter((file) => !run.has(file)),
    [],
  );
  const others = running.filter((file) => !expected.includes(file));
  const passing = others.filter((file) => {
    const reached = reachable(file, run);
    return expected.some((one) => one !== called && reached.has(one));
  });
  assert.deepEqual(passing, []);
}

describe('the list of files at the head of handle-request.ts', () => {
  let backend: TestBackend;
  let node: TestGateway;
  before(async () => {
    backend = await startBackend();
    node = await startTestGateway({ env: { KONG_PROXY_ACCESS_LOG: 'off' } });
    await node.admin('PUT', '/upstreams/u', {});
    await node.admin('POST', '/upstreams/u/targets', { target: `127.0.0.1:${backend.port}` });
    await node.admin('PUT', '/services/s', { url: backend.url });
    await node.admin('PUT', '/services/s/routes/r', { paths: ['/'] });
  });
  after(async () => {
    await node.stop();
    await backend.close();
  });

  test('has the 12 files through which a plain request passes', async () => {
    assert.equal(plain.length, 12);
    checkPath(plain, await filesOfRequests(node.proxyPort, ''));
  });

  test('has the 20 files through which a request with key-auth and an upstream passes', async () => {
    await node.admin('PATCH', '/services/s', { host: 'u' });
    await node.admin('PUT', '/consumers/c', {});
    await node.admin('POST', '/consumers/c/key-auth', { key: 'k' });
    await node.admin('POST', '/services/s/plugins', { name: 'key-auth' });
    assert.equal(listed.length, 20);
    checkPath(listed, await filesOfRequests(node.proxyPort, 'apikey: k\r\n'));
  });
});
