import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startBackend, type TestBackend } from '../../../test/support/backend.ts';
import { type GatewayProcess, startGatewayProcess } from '../../../test/support/gateway-process.ts';
import { postgresEnv, skipWithoutPostgres, startPostgres, type TestPostgres } from '../../../test/support/postgres.ts';
import { skipWithoutRedis, startRedis, type TestRedis } from '../../../test/support/redis.ts';
import { until } from '../../../test/support/until.ts';

const skip = skipWithoutPostgres() || skipWithoutRedis();
const rounds = 50;
const warmUp = 3;

/** Purges with several nodes that share a database. */
describe('three nodes', { skip }, () => {
  let server: TestPostgres;
  let redis: TestRedis;
  let backend: TestBackend;
  const prefixes: string[] = [];
  const nodes: GatewayProcess[] = [];
  const held: ServerResponse[] = [];
  let served = 0;
  let holding = false;

  before(async () => {
    [server, redis] = await Promise.all([startPostgres(), startRedis()]);
    backend = await startBackend({
      handler: ({ url = '' }, response) => {
        response.setHeader('Content-Type', 'text/plain');
        response.setHeader('Surrogate-Key', `${url.replaceAll('/', ' ').trim()} all`);
        if (url.includes('held') && holding) held.push(response);
        else response.end(`answer ${++served}`);
      },
    });
    // The first creates the tables.
    for (const number of [1, 2, 3]) {
      nodes.push(startNode());
      if (number === 1) await nodes[0]?.started();
    }
    await Promise.all(nodes.map((node) => node.started()));
    await created('/services', { name: 's', url: backend.url });
    for (const strategy of ['memory', 'redis']) {
      await created('/services/s/routes', { name: strategy, paths: [`/${strategy}`], strip_path: false });
      await created(`/routes/${strategy}/plugins`, {
        name: 'proxy-cache',
        config: {
          strategy,
          coalescing_wait: 20,
          ...(strategy === 'redis' ? { redis: { host: '127.0.0.1', port: redis.port } } : {}),
        },
      });
    }
    for (const node of nodes) {
      await until(async () => (await fetch(`${node.url('proxy')}/redis/first`)).headers.get('x-cache-status') !== null);
    }
  });
  after(async () => {
    for (const response of held) response.destroy();
    for (const node of nodes) await node[Symbol.asyncDispose]();
    await backend?.close();
    await Promise.all([server?.stop(), redis?.stop()]);
    for (const prefix of prefixes) rmSync(prefix, { recursive: true, force: true });
  });

  function startNode(): GatewayProcess {
    const prefix = mkdtempSync(join(tmpdir(), 'sluicegate-purge-'));
    prefixes.push(prefix);
    return startGatewayProcess(prefix, {
      ...postgresEnv(server),
    });
  }

  const nodeAt = (at: number): GatewayProcess => nodes[at % nodes.length] as GatewayProcess;

  async function created(path: string, body: unknown): Promise<void> {
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(`${nodeAt(0).url('admin')}${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    assert.equal(answer.status, 201, await answer.text());
  }

  async function get(
    at: number,
    path: string,
  ): Promise<{ readonly text: string; readonly status: string | null; readonly key: string }> {
    const answer = await fetch(`${nodeAt(at).url('proxy')}${path}`);
    return {
      text: await answer.text(),
      status: answer.headers.get('x-cache-status'),
      key: answer.headers.get('x-cache-key') ?? '',
    };
  }

  async function purge(at: number, path: string): Promise<number> {
    const answer = await fetch(`${nodeAt(at).url('admin')}/proxy-cache${path}`, { method: 'DELETE' });
    await answer.arrayBuffer();
    return answer.status;
  }

  const each = <T>(work: (at: number) => Promise<T>): Promise<readonly T[]> =>
    Promise.all(nodes.map((_, at) => work(at)));

  /** Until no node has an answer from before the purge; returns how long that took. */
  async function purgedEverywhere(path: string, at: number, target: string): Promise<number> {
    const before = served;
    const began = performance.now();
    assert.ok((await purge(at, target)) < 300);
    await each((node) => until(async () => Number((await get(node, path)).text.slice(7)) > before));
    return performance.now() - began;
  }

  for (const strategy of ['memory', 'redis']) {
    it(`forget what is purged by tag on one of them within 500 ms (${strategy})`, async (t) => {
      const times: number[] = [];
      // The first ones load code.
      for (let round = -warmUp; round < rounds; round++) {
        const path = `/${strategy}/item-${Math.abs(round) % 5}`;
        await each((at) => get(at, path));
        assert.deepEqual(await each(async (at) => (await get(at, path)).status), ['Hit', 'Hit', 'Hit']);
        const time = await purgedEverywhere(path, Math.abs(round), `?tag=item-${Math.abs(round) % 5}`);
        if (round >= 0) times.push(time);
      }
      times.sort((a, b) => a - b);
      const [median, slow, worst] = [rounds / 2, -2, -1].map((at) => Math.round(times.at(at) ?? 0));
      const found = `median ${median} ms, the slowest of ${rounds}: ${slow} and ${worst} ms`;
      t.diagnostic(`${strategy}: ${found}`);
      // One of them may have met something else on the machine.
      assert.ok(slow !== undefined && slow <= 500, found);
    });

    it(`forget by prefix, by key and everything (${strategy})`, async () => {
      const path = `/${strategy}/kind`;
      const fill = (): Promise<readonly unknown[]> => each((at) => get(at, path));
      await fill();
      const { host } = new URL(nodeAt(0).url('proxy'));
      // The nodes have different ports, which are part of their URLs.
      assert.equal(await purge(1, `?prefix=http://${host}/${strategy}/k`), 200);
      await until(async () => (await get(0, path)).status === 'Miss');
      await fill();
      const { key } = await get(0, path);
      assert.equal(await purge(2, `/${key}`), 204);
      await until(async () => (await get(0, path)).status === 'Miss');
      await fill();
      await purgedEverywhere(path, 0, '');
    });

    it(`do not store an answer that was requested before the purge and arrives after it (${strategy})`, async () => {
      const [path, marker] = [`/${strategy}/held`, `/${strategy}/marker`];
      for (const [at, target] of [
        [0, '?tag=held'],
        [1, '?tag=all'],
        [2, ''],
      ] as const) {
        holding = true;
        const first = get(1, path);
        await until(() => held.length === 1);
        holding = false;
        assert.ok((await purge(at, target)) < 300);
        // Purges are applied in their order, so this one is everywhere when the next one is.
        await each((node) => get(node, marker));
        await purgedEverywhere(marker, at, '?tag=marker');
        held.shift()?.end('answer 0');
        assert.equal((await first).text, 'answer 0');
        const second = await get(1, path);
        assert.notEqual(second.text, 'answer 0', target);
        await until(async () => (await get(1, path)).status === 'Hit');
        assert.notEqual((await get(1, path)).text, 'answer 0', target);
        await purge(1, '?tag=held');
      }
    });
  }

  it('forget what was purged while one of them could not reach the database', async () => {
    const path = '/memory/item-0';
    const late = nodeAt(2);
    await each((at) => get(at, path));
    const { text } = await get(2, path);
    assert.equal((await get(2, path)).status, 'Hit');
    late.child.kill('SIGSTOP');
    try {
      assert.equal(await purge(0, '?tag=item-0'), 200);
    } finally {
      late.child.kill('SIGCONT');
    }
    await until(async () => (await get(2, path)).text !== text);
  });

  it('answer 503 when only one of them could be purged', async () => {
    await server.crash();
    try {
      const answer = await fetch(`${nodeAt(0).url('admin')}/proxy-cache?tag=x`, { method: 'DELETE' });
      assert.equal(answer.status, 503);
    } finally {
      await server.restart();
    }
    await until(async () => (await purge(0, '?tag=x')) === 200);
  });
});
