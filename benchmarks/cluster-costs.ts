/**
 * Measures what nodes cost the database that they share: at rest, for each edit, report, lease and purge. Prints the constants of
 * `scripts/generators/sizing/measured.ts`, from which `npm run generate` computes the tables of docs/sizing.md.
 *
 *   node benchmarks/cluster-costs.ts        needs PostgreSQL, two quiet minutes
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { createStore } from '../src/control/store/create-store.ts';
import { type GatewayProcess, startGatewayProcess } from '../test/support/gateway-process.ts';
import { postgresEnv, postgresSettings, startPostgres } from '../test/support/postgres.ts';

const nodeCount = 3;
const idleSeconds = 40;
const edits = 200;
const calls = 2000;
/** Ticks of `/proc/<pid>/stat` in a second. */
const ticks = 100;

const server = await startPostgres();
const prefixes: string[] = [];
const nodes: GatewayProcess[] = [];
const client = new pg.Client({ ...server });
try {
  for (let number = 0; number < nodeCount; number++) {
    nodes.push(startNode());
    await nodes[number]?.started();
  }
  await client.connect();
  await wait(6000);
  const idle = await costOf(() => wait(idleSeconds * 1000));
  const connections =
    Number(await value("select count(*) from pg_stat_activity where backend_type = 'client backend'")) - 1;
  const edit = await costOf(() => makeEdits(edits));
  const store = await createStore({ kind: 'postgres', pg: postgresSettings(server), definitions: [] });
  const data = JSON.stringify({ filler: 'x'.repeat(900) });
  const report = await costOf(async () => {
    for (let at = 0; at < calls; at++) await store.putNodes([{ role: 'traditional', id: `node-${at % 100}`, data }]);
  });
  const lease = await costOf(async () => {
    const keepFor = 60_000;
    for (let at = 0; at < calls; at++) {
      const window = { key: `limit-${at % 100}`, windowStart: 0, keepFor, limit: 1e9, previous: null };
      await store.leaseCounters([{ windows: [window], wanted: 1, unit: 1, force: false }]);
    }
  });
  await store.close();
  const perNode = nodeCount * idle.seconds;
  const rest = (cost: Cost, of: number, unit: keyof Cost): number =>
    (cost[unit] - (idle[unit] / idle.seconds) * cost.seconds) / of;
  const figures = {
    idleTransactions: idle.transactions / perNode,
    idleCpu: (idle.cpu / perNode) * 1000,
    connections: connections / nodeCount,
    editTransactions: rest(edit, edits, 'transactions'),
    editCpu: rest(edit, edits, 'cpu') * 1000,
    editLog: rest(edit, edits, 'log'),
    reportCpu: rest(report, calls, 'cpu') * 1000,
    reportLog: rest(report, calls, 'log'),
    leaseCpu: rest(lease, calls, 'cpu') * 1000,
    leaseLog: rest(lease, calls, 'log'),
  };
  for (const [name, figure] of Object.entries(figures))
    process.stdout.write(`${name}: ${Number(figure.toPrecision(3))}\n`);
} finally {
  await client.end().catch(() => {});
  for (const node of nodes) await node[Symbol.asyncDispose]();
  await server.stop();
  for (const prefix of prefixes) rmSync(prefix, { recursive: true, force: true });
}

interface Cost {
  readonly seconds: number;
  readonly transactions: number;
  /** Seconds of CPU time of the database. */
  readonly cpu: number;
  /** Bytes of its write-ahead log. */
  readonly log: number;
}

async function costOf(work: () => Promise<unknown>): Promise<Cost> {
  const before = await totals();
  await work();
  // The database publishes its statistics after a second.
  await wait(1500);
  const after = await totals();
  return {
    seconds: after.seconds - before.seconds,
    transactions: after.transactions - before.transactions,
    cpu: after.cpu - before.cpu,
    log: after.log - before.log,
  };
}

async function totals(): Promise<Cost> {
  const transactions = Number(
    await value('select xact_commit from pg_stat_database where datname = current_database()'),
  );
  const log = Number(await value("select pg_current_wal_insert_lsn() - '0/0'::pg_lsn"));
  return { seconds: performance.now() / 1000, transactions, cpu: cpuOfDatabase(), log };
}

async function value(query: string): Promise<unknown> {
  const { rows } = await client.query({ text: query, rowMode: 'array' });
  return (rows[0] as unknown[])[0];
}

function cpuOfDatabase(): number {
  const pids = execFileSync('pgrep', ['-f', `postgres.*-p ${server.port}`], { encoding: 'utf8' })
    .trim()
    .split('\n');
  const children = pids.flatMap((pid) => {
    try {
      return execFileSync('pgrep', ['-P', pid], { encoding: 'utf8' }).trim().split('\n');
    } catch {
      return [];
    }
  });
  let sum = 0;
  for (const pid of new Set([...pids, ...children])) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      sum += Number(fields[11]) + Number(fields[12]);
    } catch {
      // It has ended meanwhile.
    }
  }
  return sum / ticks;
}

function startNode(): GatewayProcess {
  const prefix = mkdtempSync(join(tmpdir(), 'sluicegate-costs-'));
  prefixes.push(prefix);
  return startGatewayProcess(prefix, {
    ...postgresEnv(server),
  });
}

/** One after the other, as by a person or a deployment; each waits until the node has applied it. */
async function makeEdits(count: number): Promise<void> {
  const admin = nodes[0]?.url('admin');
  for (let at = 0; at < count; at++) {
    const answer = await fetch(`${admin}/services`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ name: `service-${at}`, url: 'http://127.0.0.1:1' }),
    });
    if (answer.status !== 201) throw new Error(await answer.text());
    await answer.arrayBuffer();
  }
}
