import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { aggregate } from './scenarios/bodies/aggregate.ts';
import { largeAnswer, upload } from './scenarios/bodies/bodies.ts';
import { cache } from './scenarios/bodies/cache.ts';
import { content } from './scenarios/bodies/content.ts';
import { transfer } from './scenarios/bodies/transfer.ts';
import { edits } from './scenarios/config/edits.ts';
import { wholeConfig } from './scenarios/config/whole-config.ts';
import { writes } from './scenarios/config/writes.ts';
import { hybrid } from './scenarios/nodes/hybrid.ts';
import { start } from './scenarios/nodes/start.ts';
import { grpc } from './scenarios/protocols/grpc.ts';
import { http2 } from './scenarios/protocols/http2.ts';
import { http2Upload } from './scenarios/protocols/http2-upload.ts';
import { idleConnections } from './scenarios/protocols/idle-connections.ts';
import { tls } from './scenarios/protocols/tls.ts';
import { tlsArrivals } from './scenarios/protocols/tls-arrivals.ts';
import { websocket } from './scenarios/protocols/websocket.ts';
import { addresses } from './scenarios/requests/addresses.ts';
import { consumers } from './scenarios/requests/consumers.ts';
import { latency } from './scenarios/requests/latency.ts';
import { mixed } from './scenarios/requests/mixed.ts';
import { observability } from './scenarios/requests/observability.ts';
import { plain } from './scenarios/requests/plain.ts';
import { policies } from './scenarios/requests/policies.ts';
import { routes } from './scenarios/requests/routes.ts';
import { tenTargets } from './scenarios/requests/upstreams.ts';
import { watched } from './scenarios/requests/watched.ts';
import { checkOut } from './support/against/checkout.ts';
import { compareSources, differenceTable } from './support/against/compare.ts';
import { type Difference, isRegression } from './support/against/difference.ts';
import { measuredRoot } from './support/against/lanes.ts';
import type { BenchContext, Scenario } from './support/context.ts';
import type { Figure } from './support/figures/figures.ts';
import { keepReport, reportTable } from './support/figures/report.ts';
import { describeMachine, type Machine } from './support/machine/machine.ts';
import { pinToCores } from './support/machine/placement.ts';
import { BenchError, findTools } from './support/machine/tools.ts';
import { startHaproxy } from './support/peers/haproxy.ts';
import { startBackend, startBarePeer, startPeer } from './support/peers/nginx.ts';
import type { Subject } from './support/subject.ts';

const scenarios: readonly Scenario[] = [
  plain,
  latency,
  policies,
  mixed,
  observability,
  watched,
  consumers,
  addresses,
  aggregate,
  routes,
  tenTargets,
  largeAnswer,
  upload,
  transfer,
  websocket,
  cache,
  content,
  tls,
  tlsArrivals,
  http2,
  http2Upload,
  grpc,
  idleConnections,
  edits,
  writes,
  wholeConfig,
  hybrid,
  start,
];

/**
 * npm run bench -- [--scenario plain,routes] [--seconds 6] [--rounds 5]: the whole table, or a part that is only printed.
 * `--against <commit> [--fail-above 5%]` prints instead how the rows differ from those of another commit.
 */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      scenario: { type: 'string', default: scenarios.map(({ name }) => name).join(',') },
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '5' },
      against: { type: 'string' },
      'fail-above': { type: 'string' },
      'no-pin': { type: 'boolean', default: false },
    },
  });
  const chosen = values.scenario.split(',').map(findScenario);
  const seconds = readPositive('seconds', values.seconds);
  const rounds = readPositive('rounds', values.rounds);
  const limit = readLimit(values['fail-above'], values.against);
  const tools = findTools();
  const machine = describeMachine(tools, values['no-pin'] ? null : pinToCores());
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-bench-'));
  const started: Subject[] = [];
  const keep = <T extends Subject>(subject: T): T => {
    started.push(subject);
    return subject;
  };
  try {
    const backend = keep(await startBackend(tools.nginx, folder));
    const peer = keep(await startPeer(tools.nginx, folder, backend));
    const barePeer = keep(await startBarePeer(tools.nginx, folder, backend));
    const haproxy = keep(await startHaproxy(tools.haproxy, folder, backend));
    const context: BenchContext = { tools, folder, seconds, rounds, backend, peer, barePeer, haproxy, say };
    if (values.against === undefined) await measure(chosen, context, machine);
    else await compare(chosen, context, values.against, limit);
  } finally {
    await Promise.all(started.map((subject) => subject.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

async function measure(chosen: readonly Scenario[], context: BenchContext, machine: Machine): Promise<void> {
  const figures: Figure[] = [];
  for (const scenario of chosen) await attempt(scenario, async () => figures.push(...(await scenario.run(context))));
  const report = { machine, seconds: context.seconds, rounds: context.rounds, figures };
  process.stdout.write(`\n${reportTable(report)}`);
  if (chosen.length === scenarios.length && process.exitCode !== 1)
    say(`kept in ${keepReport(report)} and docs/benchmarks.md`);
}

async function compare(
  chosen: readonly Scenario[],
  context: BenchContext,
  commit: string,
  limit: number,
): Promise<void> {
  const before = checkOut(commit, say);
  const rows: Difference[] = [];
  try {
    for (const scenario of chosen) {
      await attempt(scenario, async () =>
        rows.push(...(await compareSources(scenario, context, before.root, measuredRoot()))),
      );
    }
  } finally {
    rmSync(before.root, { recursive: true, force: true });
  }
  process.stdout.write(`\nAgainst ${before.commit}, ${context.rounds} rounds of ${context.seconds} s in turns:\n\n`);
  process.stdout.write(differenceTable(rows));
  const regressions = rows.filter((row) => isRegression(row, limit));
  for (const { scenario, what } of regressions) say(`worse by more than ${limit * 100} %: ${scenario}, ${what}`);
  if (regressions.length > 0) process.exitCode = 1;
}

/** Runs a scenario. The others are worth having all the same when it fails. */
async function attempt(scenario: Scenario, run: () => Promise<unknown>): Promise<void> {
  say(`${scenario.name} ...`);
  const begun = performance.now();
  try {
    await run();
    say(`${scenario.name} took ${((performance.now() - begun) / 1000).toFixed(0)} s`);
  } catch (error) {
    if (!(error instanceof BenchError)) throw error;
    say(`${scenario.name} failed: ${error.message}`);
    process.exitCode = 1;
  }
}

function findScenario(name: string): Scenario {
  const scenario = scenarios.find((candidate) => candidate.name === name);
  if (scenario === undefined) {
    throw new BenchError(`unknown scenario "${name}"; there are ${scenarios.map((one) => one.name).join(', ')}`);
  }
  return scenario;
}

function readPositive(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1) throw new BenchError(`--${name} must be a whole number from 1`);
  return value;
}

/** `5%` as 0.05; infinite without a limit. */
function readLimit(text: string | undefined, against: string | undefined): number {
  if (text === undefined) return Number.POSITIVE_INFINITY;
  if (against === undefined) throw new BenchError('--fail-above needs --against <commit>');
  const percent = /^(\d+(?:\.\d+)?)%?$/.exec(text)?.[1];
  if (percent === undefined) throw new BenchError('--fail-above must be a percentage such as 5%');
  return Number(percent) / 100;
}

function say(text: string): void {
  process.stderr.write(`bench: ${text}\n`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof BenchError)) throw error;
  say(error.message);
  process.exitCode = 1;
}
