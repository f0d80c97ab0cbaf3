import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, it } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { postgresSettings, skipWithoutPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { until } from '../support/until.ts';
import { type ClusterNode, startClusterNode } from './nodes.fixture.ts';
import { assertConsistent, withStoreConnection } from './store-checks.fixture.ts';

/**
 * In each round 19 kills: of whole nodes, of processes with only the Admin API (they start faster), of backends of PostgreSQL, of all of it.
 * A fault that one kill in 20 shows is missed by one run in 18. For a measurement: `KILL_ROUNDS=11` are 209 kills.
 */
const rounds = Number(process.env['KILL_ROUNDS'] ?? 3);
const nodeKills = rounds;
const apiKills = 5 * rounds;
const backendKills = 10 * rounds;
const serverKills = 3 * rounds;
/** Milliseconds for each half, on a busy machine. */
const timeout = 60_000 + rounds * 30_000;

const schema = 'public';
const writers = 3;
const skip = skipWithoutPostgres();

/** What the answers have promised. */
class Ledger {
  readonly #rows = new Map<string, 'there' | 'gone' | 'unknown'>();
  #names = 0;
  confirmed = 0;

  newName(): string {
    this.#names += 1;
    return `row-${this.#names}`;
  }

  begin(name: string): void {
    this.#rows.set(name, 'unknown');
  }

  confirm(name: string, state: 'there' | 'gone'): void {
    this.confirmed += 1;
    this.#rows.set(name, state);
  }

  async assertKept(server: TestPostgres): Promise<void> {
    const stored = await withStoreConnection(server, schema, async (client) => {
      const { rows } = await client.query('select name from services');
      return new Set(rows.map(({ name }) => String(name)));
    });
    const named = (state: string): string[] => [...this.#rows].flatMap(([name, s]) => (s === state ? [name] : []));
    assert.deepEqual(
      named('there').filter((name) => !stored.has(name)),
      [],
      'answered with 201 and missing',
    );
    assert.deepEqual(
      named('gone').filter((name) => stored.has(name)),
      [],
      'answered with 204 and there',
    );
    await assertConsistent(server, schema);
  }
}

/** Creates services, and deletes every third, until the API breaks or `stopped`. */
async function writeUntilBroken(url: string, ledger: Ledger, stopped: () => boolean = () => false): Promise<void> {
  const send = async (method: string, path: string, body?: unknown): Promise<number> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { 'Content-Type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    // The status confirms the write: the rest of the answer may be cut off.
    response.arrayBuffer().catch(() => undefined);
    return response.status;
  };
  for (let turn = 0; !stopped(); turn++) {
    const name = ledger.newName();
    try {
      ledger.begin(name);
      const created = await send('POST', '/services', { name, host: 'backend.test', tags: ['kill'] });
      if (created === 201) ledger.confirm(name, 'there');
      else {
        assert.equal(created, 503);
        await wait(5);
        continue;
      }
      if (turn % 3 !== 0) continue;
      ledger.begin(name);
      const deleted = await send('DELETE', `/services/${name}`);
      if (deleted === 204) ledger.confirm(name, 'gone');
      else assert.equal(deleted, 503);
    } catch (error) {
      if (error instanceof assert.AssertionError) throw error;
      return;
    }
  }
}

/** Lets the writers work, and kills the process some answers later. */
async function killWhileWriting(url: string, child: ChildProcess, ledger: Ledger): Promise<void> {
  const exited = once(child, 'exit');
  const writing = Array.from({ length: writers }, () => writeUntilBroken(url, ledger));
  const enough = ledger.confirmed + 1 + Math.floor(Math.random() * 25);
  await until(() => ledger.confirmed >= enough, 30_000);
  await wait(Math.random() * 4);
  child.kill('SIGKILL');
  await Promise.all([...writing, exited]);
  assert.equal(child.signalCode, 'SIGKILL');
}

async function startAdminApi(server: TestPostgres): Promise<{ readonly url: string; readonly child: ChildProcess }> {
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      join(import.meta.dirname, 'admin-api.fixture.ts'),
      JSON.stringify(postgresSettings(server)),
    ],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { NODE_COMPILE_CACHE: join(import.meta.dirname, '../../.runtime/compile-cache') },
    },
  );
  for await (const url of createInterface({ input: child.stdout })) return { url, child };
  throw new Error('the Admin API has not started');
}

/** Does this many times what `work` does, by two at a time. */
async function byTwo(times: number, work: () => Promise<void>): Promise<void> {
  let left = times;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all([worker(), worker()]);
}

describe('every write that was answered is kept, and every constraint holds', { skip, timeout: 2 * timeout }, () => {
  let server: TestPostgres;
  const ledger = new Ledger();
  before(async () => {
    server = await startPostgres({ crashSafe: true });
  });
  after(() => server?.stop());

  it(`when ${nodeKills} nodes and ${apiKills} Admin APIs are killed during writes`, { timeout }, async () => {
    await byTwo(nodeKills, async () => {
      await using node = await startClusterNode(server, { env: { KONG_PROXY_LISTEN: 'off' } });
      await killWhileWriting(node.process.url('admin'), node.process.child, ledger);
    });
    await byTwo(apiKills, async () => {
      const { url, child } = await startAdminApi(server);
      await killWhileWriting(url, child, ledger);
    });
    await ledger.assertKept(server);
  });

  it(`when ${backendKills} backends of PostgreSQL, and ${serverKills} times all of it, are killed during writes`, {
    timeout,
  }, async () => {
    const node: ClusterNode = await startClusterNode(server);
    let stopped = false;
    const writing = Array.from({ length: writers }, () =>
      writeUntilBroken(node.process.url('admin'), ledger, () => stopped),
    );
    const served = async (): Promise<void> => {
      const enough = ledger.confirmed + 1 + Math.floor(Math.random() * 10);
      await until(() => ledger.confirmed >= enough, 30_000);
    };
    for (let kill = 0; kill < backendKills; kill++) {
      await served();
      await until(() => server.killBackend());
    }
    for (let kill = 0; kill < serverKills; kill++) {
      await served();
      await server.kill();
      await server.restart();
    }
    await served();
    stopped = true;
    await Promise.all(writing);
    await node[Symbol.asyncDispose]();
    await ledger.assertKept(server);
  });
});
