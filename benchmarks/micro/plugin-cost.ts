// What the access phase of plugins adds to a request: node benchmarks/micro/plugin-cost.ts
import { randomUUID } from 'node:crypto';
import { runInThisContext } from 'node:vm';
import { buildPlan } from '../../src/data/plugin-runner/build-plan.ts';
import { createInstance } from '../../src/data/plugin-runner/instances.ts';
import { runAccess, runLog } from '../../src/data/plugin-runner/phases.ts';
import type { PluginInstance, PluginPlan } from '../../src/data/plugin-runner/plan.ts';
import type { Exchange } from '../../src/data/request/exchange.ts';
import { definePlugin, httpProtocols, type PluginPhases, type TimeBudget } from '../../src/plugin-sdk/index.ts';
import { record } from '../../src/plugin-sdk/schema.ts';
import { TestClient } from '../../src/plugin-testing/test-client.ts';
import { testExchange } from '../../src/plugin-testing/test-exchange.ts';
import { testHost } from '../../src/plugin-testing/test-host.ts';

const requests = 1_000_000;
const asyncRequests = 200_000;
const rounds = 7;
/** Exchanges that are used in turn. */
const exchanges = 512;

const host = testHost({}, [], new Map());
const schema = { config: record({}) };

/** `count` plugins, each with code of its own, as V8 would see those of ten authors. */
function plugins(count: number, code: string, timeBudget?: TimeBudget): readonly PluginInstance[] {
  return Array.from({ length: count }, (_, at) => {
    const plugin = definePlugin({
      name: `empty-${at}`,
      version: '1.0.0',
      priority: 1000 - at,
      protocols: httpProtocols,
      schema,
      ...(timeBudget === undefined ? {} : { timeBudget }),
      setup: () => runInThisContext(`({ access: ${code} /* ${at} */ })`) as PluginPhases,
    });
    return createInstance(new Map([[plugin.name, plugin]]), { id: randomUUID(), name: plugin.name, config: {} }, host);
  });
}

function exchangesWith(plan: PluginPlan): readonly Exchange[] {
  return Array.from({ length: exchanges }, () => testExchange({ path: '/' }, plan, new TestClient(), undefined, null));
}

/** What happens of a request with plugins, and would not without any. */
function runOnce(exchange: Exchange): unknown {
  exchange.context = null;
  exchange.accessAt = 0;
  const result = runAccess(exchange);
  if (result === undefined) runLog(exchange);
  return result;
}

/** Nanoseconds of CPU for each request: the least of some rounds. */
async function measure(instances: readonly PluginInstance[], isAsync = false): Promise<number> {
  const all = exchangesWith(buildPlan(instances));
  const count = isAsync ? asyncRequests : requests;
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = process.cpuUsage();
    for (let at = 0; at < count; at++) {
      const exchange = all[at % exchanges] as Exchange;
      const result = runOnce(exchange);
      if (!isAsync) continue;
      await result;
      runLog(exchange);
    }
    const { user, system } = process.cpuUsage(start);
    times.push(((user + system) * 1e3) / count);
  }
  return Math.min(...times);
}

const empty = '(context) => undefined';
const later = 'async (context) => undefined';
const budget: TimeBudget = { access: 50, onExceeded: 'refuse' };
const none = await measure([]);

function print(name: string, time: number): void {
  process.stdout.write(`${name.padEnd(48)} ${((time - none) / 1000).toFixed(3)} µs CPU/request\n`);
}

print('one empty access phase', await measure(plugins(1, empty)));
print('ten empty access phases', await measure(plugins(10, empty)));
print('one empty access phase with a time budget', await measure(plugins(1, empty, budget)));
print('one asynchronous access phase', await measure(plugins(1, later), true));
print('one asynchronous access phase with a time budget', await measure(plugins(1, later, budget), true));
