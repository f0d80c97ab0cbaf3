// What traces cost a request: node benchmarks/micro/traces.ts

import { buildPlan } from '../../src/data/plugin-runner/build-plan.ts';
import { beginPlugins } from '../../src/data/plugin-runner/phases.ts';
import type { PluginContext } from '../../src/data/request/exchange.ts';
import { encodeSpan } from '../../src/plugin-kit/telemetry/otlp/spans.ts';
import { newSpanId, newTraceId } from '../../src/plugin-kit/telemetry/propagation/trace-ids.ts';
import { Tracer, type TracerOptions } from '../../src/plugin-kit/telemetry/propagation/tracer.ts';
import { TestClient } from '../../src/plugin-testing/test-client.ts';
import { testExchange } from '../../src/plugin-testing/test-exchange.ts';
import { spansOf } from '../../src/plugins/opentelemetry/spans.ts';
import { monotonic } from '../../src/shared/util/time/clock.ts';

const requests = 5_000;
const rounds = 40;
const headers = {
  'user-agent': 'Mozilla/5.0 (X11; Linux x86_64)',
  accept: 'application/json',
  'accept-encoding': 'gzip, br',
  'x-api-version': '2',
};
const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00';
const client = new TestClient();
const plan = buildPlan([]);
const wanted = new Set(['router', 'balancer', 'plugin_access']);

function tracer(options: Partial<TracerOptions> = {}): Tracer {
  return new Tracer({
    settings: {
      header_type: 'preserve',
      propagation: { extract: null, clear: null, inject: null, default_format: 'w3c' },
    },
    rate: 0,
    strategy: 'parent_probability_fallback',
    enabled: true,
    attempts: true,
    short: false,
    responseHeader: null,
    keepsIds: false,
    ...options,
  });
}

function context(traced: boolean, more: Readonly<Record<string, string>> = {}): PluginContext {
  return beginPlugins(testExchange({ path: '/users/7?a=1', headers: { ...headers, ...more }, traced }, plan, client));
}

/** Best of several rounds; what is prepared is not counted. */
function measure<T>(name: string, prepare: () => T, step: (prepared: T) => unknown): void {
  let best = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds; round++) {
    const prepared = Array.from({ length: requests }, prepare);
    const start = monotonic();
    for (const one of prepared) step(one);
    best = Math.min(best, ((monotonic() - start) * 1e6) / requests);
  }
  process.stdout.write(`${name.padEnd(48)} ${best.toFixed(0)} ns\n`);
}

const unsampled = tracer();
const sampling = tracer({ rate: 1 });
const b3 = tracer({
  settings: {
    header_type: 'preserve',
    propagation: { extract: null, clear: null, inject: null, default_format: 'b3' },
  },
});

function sampled(): PluginContext {
  const one = context(true);
  sampling.access(one);
  return one;
}

measure(
  'ids of a request',
  () => null,
  () => newTraceId().length + newSpanId().length,
);
measure(
  'access, not traced: W3C',
  () => context(false),
  (one) => unsampled.access(one),
);
measure(
  'access, not traced: B3',
  () => context(false),
  (one) => b3.access(one),
);
measure(
  'access, the client says no',
  () => context(true, { traceparent }),
  (one) => unsampled.access(one),
);
measure(
  'access, traced',
  () => context(true),
  (one) => sampling.access(one),
);
measure(
  'log, not traced',
  () => context(false),
  (one) => unsampled.sampled(one),
);
measure('log, traced: spans and their encoding', sampled, (one) => {
  const trace = sampling.sampled(one);
  if (trace !== null) for (const span of spansOf(one, trace, wanted)) encodeSpan(span);
});
