import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bundledPlugins } from '../../plugins/registry.ts';
import { loadPlugins } from '../../shared/plugin-loader/load-plugins.ts';
import { privateMeter } from '../../shared/zones/plugin-meter.ts';
import { buildPlan } from './build-plan.ts';
import type { PluginInstance } from './plan.ts';

/** Kong's order of its bundled plugins. A plugin of ours that Kong has too must use the number from here. */
const kongOrder: readonly (readonly [string, number])[] = [
  ['pre-function', 1000000],
  ['correlation-id', 100001],
  ['zipkin', 100000],
  ['bot-detection', 2500],
  ['cors', 2000],
  ['session', 1900],
  ['acme', 1705],
  ['jwt', 1450],
  ['oauth2', 1400],
  ['key-auth', 1250],
  ['ldap-auth', 1200],
  ['basic-auth', 1100],
  ['hmac-auth', 1030],
  ['grpc-gateway', 998],
  ['ip-restriction', 990],
  ['request-size-limiting', 951],
  ['acl', 950],
  ['rate-limiting', 910],
  ['response-ratelimiting', 900],
  ['request-transformer', 801],
  ['response-transformer', 800],
  ['redirect', 779],
  ['ai-request-transformer', 777],
  ['ai-prompt-template', 773],
  ['ai-prompt-decorator', 772],
  ['ai-prompt-guard', 771],
  ['ai-proxy', 770],
  ['ai-response-transformer', 768],
  ['standard-webhooks', 760],
  ['aws-lambda', 750],
  ['azure-functions', 749],
  ['proxy-cache', 100],
  ['opentelemetry', 14],
  ['prometheus', 13],
  ['http-log', 12],
  ['statsd', 11],
  ['datadog', 10],
  ['file-log', 9],
  ['udp-log', 8],
  ['tcp-log', 7],
  ['loggly', 6],
  ['syslog', 4],
  ['grpc-web', 3],
  ['request-termination', 2],
  ['post-function', -1000],
];

function instance(name: string, priority: number): PluginInstance {
  const log = { debug() {}, info() {}, warn() {}, error() {} };
  return {
    id: name,
    name,
    priority,
    phases: {},
    needs: {},
    log,
    lease: null,
    meter: privateMeter(),
    budget: null,
    mark: 0,
  };
}

test('the whole order is pinned', () => {
  const shuffled = kongOrder
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, priority]) => instance(name, priority));
  assert.deepEqual(
    buildPlan(shuffled).all.map(({ name, priority }) => [name, priority]),
    kongOrder,
  );
});

test('no two plugins share a priority', async () => {
  const plugins = [...(await loadPlugins(['bundled'])).values()];
  const ours = plugins.map(({ name, priority }) => [name, priority] as const);
  const all = new Map([...kongOrder, ...ours]);
  assert.equal(new Set(all.values()).size, all.size);
});

test('a bundled plugin that Kong has too uses its number, and has the name of its folder', async () => {
  const numbers = new Map(kongOrder);
  for (const [folder, load] of bundledPlugins) {
    const { default: plugin } = await load();
    assert.equal(plugin.name, folder);
    assert.equal(plugin.priority, numbers.get(folder) ?? plugin.priority);
  }
});

test('of equal priorities, which only third-party plugins can have, the greater name runs first', () => {
  const plan = buildPlan([instance('alpha', 5), instance('gamma', 5), instance('beta', 5)]);
  assert.deepEqual(
    plan.all.map(({ name }) => name),
    ['gamma', 'beta', 'alpha'],
  );
});
