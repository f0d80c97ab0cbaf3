import assert from 'node:assert/strict';
import { after, before, describe, it, type TestContext } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { skipWithoutPgBouncer, startPgBouncer, type TestPgBouncer } from '../support/pgbouncer.ts';
import { type DatabasePlace, skipWithoutPostgres, startPostgres, type TestPostgres } from '../support/postgres.ts';
import { type ClusterNode, create, startClusterNode } from './nodes.fixture.ts';

const rate = 50;
const rounds = 3;
const secondsOfRound = 2;

/**
 * Milliseconds from the begin of a write on one node until it is routed on another one: at the 99th percentile on a machine of its own, at
 * the median among other tests.
 */
const bound = 300;

/** Milliseconds that a write takes until its 201 on a machine with time for it. On a busier one everything takes longer, the bound too. */
const usualWrite = 25;

const skip = skipWithoutPostgres() || skipWithoutPgBouncer();
let postgres: TestPostgres;
let pooler: TestPgBouncer;
before(async () => {
  if (skip !== false) return;
  postgres = await startPostgres();
  pooler = await startPgBouncer(postgres, 'transaction');
});
after(async () => {
  await pooler?.stop();
  await postgres?.stop();
});

interface Round {
  /** Until the 201 of each write. */
  readonly written: readonly number[];
  /** Until it is routed, on each of the other nodes. */
  readonly routed: readonly number[];
}

async function measureRound(nodes: readonly ClusterNode[], round: number, seconds: number): Promise<Round> {
  const [writer, ...others] = nodes;
  assert.ok(writer);
  const all = Array.from({ length: rate * seconds }, async (_, i) => {
    await wait((i * 1000) / rate);
    const path = `/r${round}-${i}/`;
    const begun = performance.now();
    let writtenAt: number | null = null;
    const written = create(writer, '/services/one/routes', { name: `r${round}-${i}`, paths: [path] }).then(() => {
      writtenAt = performance.now();
    });
    const routed = others.map(async (node) => {
      while ((await node.proxy(path)) === 404) {
        const waited = performance.now() - begun;
        if (writtenAt !== null && performance.now() - writtenAt > 30_000) {
          throw new Error(`${path} is not routed 30 s after its 201, which took ${writtenAt - begun} ms`);
        }
        // On a busy machine these requests would be most of its work.
        await wait(Math.min(100, 20 + waited / 10));
      }
      return performance.now() - begun;
    });
    return await Promise.all([written.then(() => performance.now() - begun), ...routed]);
  });
  const delays = await Promise.all(all);
  return { written: delays.map(([own = 0]) => own), routed: delays.flatMap(([, ...rest]) => rest) };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

async function assertFollows(t: TestContext, place: DatabasePlace, schema: string): Promise<void> {
  const first = await startClusterNode(place, { schema });
  const rest = await Promise.all([0, 1].map(() => startClusterNode(place, { schema })));
  const nodes = [first, ...rest];
  try {
    await create(first, '/services', { name: 'one', url: 'http://127.0.0.1:9' });
    await create(first, '/services/one/plugins', { name: 'request-termination', config: { status_code: 200 } });
    await measureRound(nodes, 0, 1);
    const measured: Round[] = [];
    for (let round = 1; round <= rounds; round++) measured.push(await measureRound(nodes, round, secondsOfRound));
    // The median of rounds: the machine may be busy during one of them.
    const worst = measured.map(({ routed }) => percentile(routed, 0.99));
    const [p50, p99] = [
      percentile(
        measured.flatMap(({ routed }) => routed),
        0.5,
      ),
      percentile(worst, 0.5),
    ];
    const write = percentile(
      measured.flatMap(({ written }) => written),
      0.5,
    );
    t.diagnostic(`p50 ${Math.round(p50)} ms, p99 ${Math.round(p99)} ms; a write takes ${Math.round(write)} ms`);
    const scaled = bound * Math.max(1, write / usualWrite);
    // Other tests run on this machine, and a pause of one node is in every tail; a lost notification would be in the median.
    assert.ok(p50 <= scaled, `p50 ${p50} ms, a write takes ${write} ms`);
    assert.ok(p99 <= 3 * scaled, `p99 ${p99} ms, a write takes ${write} ms`);
  } finally {
    for (const node of nodes) await node[Symbol.asyncDispose]();
  }
}

describe('a write on one of three nodes is routed on the others', { skip }, () => {
  it(`within ${bound} ms at ${rate} writes a second, by notifications`, (t) => assertFollows(t, postgres, 'notified'));

  it(`within ${bound} ms at ${rate} writes a second, through PgBouncer in transaction mode`, (t) =>
    assertFollows(t, pooler.server, 'pooled'));
});
