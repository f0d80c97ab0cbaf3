import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { addresses } from './scenarios/addresses.ts';
import { aggregate } from './scenarios/aggregate.ts';
import { largeAnswer, upload } from './scenarios/bodies.ts';
import { cache } from './scenarios/cache.ts';
import { consumers } from './scenarios/consumers.ts';
import { content } from './scenarios/content.ts';
import { edits } from './scenarios/edits.ts';
import { http2 } from './scenarios/http2.ts';
import { hybrid } from './scenarios/hybrid.ts';
import { idleConnections } from './scenarios/idle-connections.ts';
import { observability } from './scenarios/observability.ts';
import { plain } from './scenarios/plain.ts';
import { policies } from './scenarios/policies.ts';
import { routes } from './scenarios/routes.ts';
import { start } from './scenarios/start.ts';
import { tls } from './scenarios/tls.ts';
import { transfer } from './scenarios/transfer.ts';
import { tenTargets } from './scenarios/upstreams.ts';
import { watched } from './scenarios/watched.ts';
import { websocket } from './scenarios/websocket.ts';
import { wholeConfig } from './scenarios/whole-config.ts';
import type { Scenario } from './support/context.ts';
import type { Figure } from './support/figures.ts';
import { describeMachine } from './support/machine.ts';
import { startBackend, startPeer } from './support/nginx.ts';
import { keepReport, reportTable } from './support/report.ts';
import { BenchError, findTools } from './support/tools.ts';

const scenarios: readonly Scenario[] = [
  plain,
  policies,
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
  http2,
  idleConnections,
  edits,
  wholeConfig,
  hybrid,
  start,
];

/** npm run bench -- [--scenario plain,routes] [--seconds 6] [--rounds 5]: the whole table, or a part that is only printed. */
async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      scenario: { type: 'string', default: scenarios.map(({ name }) => name).join(',') },
      seconds: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '5' },
    },
  });
  const chosen = values.scenario.split(',').map(findScenario);
  const seconds = readPositive('seconds', values.seconds);
  const rounds = readPositive('rounds', values.rounds);
  const tools = findTools();
  const machine = describeMachine(tools);
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-bench-'));
  const backend = await startBackend(tools.nginx, folder);
  const peer = await startPeer(tools.nginx, folder, backend);
  const figures: Figure[] = [];
  try {
    for (const scenario of chosen) {
      say(`${scenario.name} ...`);
      try {
        figures.push(...(await scenario.run({ tools, folder, seconds, rounds, backend, peer, say })));
      } catch (error) {
        if (!(error instanceof BenchError)) throw error;
        // The others are worth having all the same.
        say(`${scenario.name} failed: ${error.message}`);
        process.exitCode = 1;
      }
    }
  } finally {
    await Promise.all([peer.stop(), backend.stop()]);
    rmSync(folder, { recursive: true, force: true });
  }
  const report = { machine, seconds, rounds, figures };
  process.stdout.write(`\n${reportTable(report)}`);
  if (chosen.length === scenarios.length && process.exitCode !== 1)
    say(`kept in ${keepReport(report)} and docs/benchmarks.md`);
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
