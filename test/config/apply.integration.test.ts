import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startBackend, type TestBackend } from '../support/backend.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { postgresSettings, skipWithoutPostgres, startPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';

let backend: TestBackend;
let folder = '';
before(async () => {
  backend = await startBackend();
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-apply-'));
});
after(async () => {
  await backend.close();
  await rm(folder, { recursive: true, force: true });
});

const size = 400;
/** Entities of one generation: services, routes, and a plugin for each service that ends its requests. */
const entities = 3 * size;

/**
 * Routes whose answer names the generation: of each generation they are other routes, and the status comes from a plugin, so that
 * half of a generation would show as a 404, a 200 of the backend, or a status of the other generation.
 */
function generation(status: number): object {
  return {
    _format_version: '3.0',
    services: Array.from({ length: size }, (_, i) => ({
      name: `g${status}-${i}`,
      url: backend.url,
      tags: [`g${status}`],
      routes: [{ name: `g${status}-${i}`, paths: [`/r${i}`] }],
      plugins: [{ name: 'request-termination', config: { status_code: status } }],
    })),
  };
}

async function apply(adminUrl: string, document: object): Promise<Readonly<Record<string, unknown>>> {
  const response = await fetch(`${adminUrl}/config/apply?changes=0`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(document),
  });
  const body = (await response.json()) as Readonly<Record<string, unknown>>;
  assert.equal(response.status, 200, JSON.stringify(body));
  return body;
}

async function statusOf(proxyUrl: string, path: string): Promise<number> {
  const response = await fetch(proxyUrl + path);
  await response.arrayBuffer();
  return response.status;
}

/** Sends pairs of requests until told to stop, and returns what they were answered with, in order. */
function watchRoutes(
  proxyUrl: string,
): AsyncDisposable & { readonly seen: readonly string[]; readonly stop: () => Promise<void> } {
  const seen: string[] = [];
  let stopped = false;
  const done = (async () => {
    for (let i = 0; !stopped; i++) {
      const pair = [await statusOf(proxyUrl, `/r${i % size}`), await statusOf(proxyUrl, `/r${size - 1 - (i % size)}`)];
      const text = pair.join(' ');
      if (seen.at(-1) !== text) seen.push(text);
    }
  })();
  const stop = async (): Promise<void> => {
    stopped = true;
    await done;
  };
  return { seen, stop, [Symbol.asyncDispose]: stop };
}

test('no request sees a half-applied config', async () => {
  await using gateway = await startTestGateway();
  await apply(gateway.adminUrl, generation(418));
  await using watched = watchRoutes(gateway.proxyUrl);
  const { seen, stop } = watched;
  await until(() => seen.length > 0);
  for (const status of [421, 418, 421]) {
    const applied = await apply(gateway.adminUrl, generation(status));
    assert.deepEqual([applied['created'], applied['deleted']], [entities, entities]);
    // The workers have it when the answer arrives.
    assert.equal(await statusOf(gateway.proxyUrl, '/r7'), status);
  }
  await stop();
  // The second request of a pair is sent after the first one was answered, so a pair may span the one moment of a change.
  const allowed = ['418 418', '418 421', '421 421', '421 418'];
  assert.deepEqual(
    seen.filter((pair) => !allowed.includes(pair)),
    [],
  );
  assert.ok(seen.length <= 4 * 2, seen.join(', '));
});

test('a node that is killed during an apply has the whole config from before, or the whole new one', {}, async () => {
  const prefix = join(folder, 'killed');
  let current = 0;
  for (let round = 0; round < 2; round++) {
    await using node = startGatewayProcess(prefix);
    await node.started();
    const admin = node.url('admin');
    if (round === 0) {
      await apply(admin, generation(418));
      current = 418;
    }
    const counts = await Promise.all(
      ['services', 'routes', 'plugins'].map((entity) => countOf(admin, entity, `g${current}`)),
    );
    assert.deepEqual(counts, [size, entities - 2 * size, size]);
    assert.equal(await statusOf(node.url('proxy'), '/r0'), current);
    const next = current === 418 ? 421 : 418;
    const outcome = apply(admin, generation(next)).then(
      () => 'applied',
      () => 'cut off',
    );
    await new Promise((resolve) => setTimeout(resolve, 100 + round * 300));
    node.child.kill('SIGKILL');
    await node.exit;
    await using again = startGatewayProcess(prefix);
    await again.started();
    const status = await statusOf(again.url('proxy'), '/r0');
    if ((await outcome) === 'applied') assert.equal(status, next);
    assert.ok([current, next].includes(status));
    current = status;
    again.child.kill('SIGTERM');
    await again.exit;
  }
});

/** Entities of a kind; all belong to one generation. */
async function countOf(adminUrl: string, entity: string, generationName: string): Promise<number> {
  let [count, next] = [0, `/${entity}?size=1000` as string | null];
  while (next !== null) {
    const page = (await (await fetch(adminUrl + next)).json()) as {
      readonly data: readonly { readonly name: string }[];
      readonly next: string | null;
    };
    count += page.data.length;
    if (entity !== 'plugins') assert.ok(page.data.every(({ name }) => name.startsWith(generationName)));
    next = page.next;
  }
  return count;
}

test('a node follows the apply of another node, at one moment', { skip: skipWithoutPostgres() }, async (t) => {
  const postgres = await startPostgres();
  t.after(() => postgres.stop());
  const start = (name: string): Promise<TestGateway> =>
    startTestGateway({
      settings: { prefix: join(folder, name), database: 'postgres', pg: postgresSettings(postgres, 5000) },
    });
  await using first = await start('first');
  await using second = await start('second');
  await apply(first.adminUrl, generation(418));
  await untilStatus(second, 418);
  await using watched = watchRoutes(second.proxyUrl);
  const { seen, stop } = watched;
  const applied = await apply(first.adminUrl, generation(421));
  await untilStatus(second, 421);
  const back = await second.admin('POST', `/config/versions/${Number(applied['version'])}/rollback`);
  assert.deepEqual([back.status, back.body['version']], [200, null]);
  await stop();
  assert.deepEqual(
    seen.filter((pair) => !['418 418', '418 421', '421 421'].includes(pair)),
    [],
  );
});

async function untilStatus(node: TestGateway, status: number): Promise<void> {
  const end = performance.now() + 30_000;
  while ((await statusOf(node.proxyUrl, '/r3')) !== status) assert.ok(performance.now() < end, 'it did not follow');
}
