import assert from 'node:assert/strict';
import { test } from 'node:test';
import { privateMeter } from '../../shared/zones/plugin-meter.ts';
import type { PluginInstance } from './plan.ts';
import { PlanBuilder } from './plan-builder.ts';

type Scope = { readonly route?: string; readonly service?: string; readonly consumer?: string };

const log = { debug() {}, info() {}, warn() {}, error() {} };

function instance(id: string, name = 'sample', priority = 1): PluginInstance {
  return {
    id,
    name,
    priority,
    phases: { access: () => undefined },
    needs: {},
    log,
    lease: null,
    meter: privateMeter(),
    budget: null,
    mark: 0,
  };
}

function entry(id: string, { route, service, consumer }: Scope = {}, name?: string, priority?: number) {
  return {
    routeId: route ?? null,
    serviceId: service ?? null,
    consumerId: consumer ?? null,
    instance: instance(id, name, priority),
  };
}

function chosen(builder: PlanBuilder, route: string | null, service: string | null, consumer: string | null): string {
  return builder
    .planFor(route, service, consumer)
    .all.map(({ id }) => id)
    .join(' ');
}

/** From the most specific scope to the least. */
const scopes: readonly (readonly [string, Scope])[] = [
  ['route+service+consumer', { route: 'r', service: 's', consumer: 'c' }],
  ['route+consumer', { route: 'r', consumer: 'c' }],
  ['service+consumer', { service: 's', consumer: 'c' }],
  ['route+service', { route: 'r', service: 's' }],
  ['consumer', { consumer: 'c' }],
  ['route', { route: 'r' }],
  ['service', { service: 's' }],
  ['global', {}],
];

test('of the eight scopes the most specific one wins, and each applies when the more specific ones are absent', () => {
  const builder = new PlanBuilder();
  for (const [name, scope] of scopes.toReversed()) {
    builder.upsert(entry(name, scope));
    assert.equal(chosen(builder, 'r', 's', 'c'), name);
  }
  for (const [index, [name]] of scopes.entries()) {
    assert.equal(chosen(builder, 'r', 's', 'c'), name);
    builder.remove(name);
    assert.equal(builder.size, scopes.length - index - 1);
  }
  assert.equal(builder.planFor('r', 's', 'c').empty, true);
});

test('an instance does not run outside of its scope', () => {
  const builder = new PlanBuilder();
  for (const [name, scope] of scopes) if (name !== 'global') builder.upsert(entry(name, scope));
  assert.equal(chosen(builder, 'r2', 's2', 'c2'), '');
  assert.equal(chosen(builder, null, null, null), '');
  assert.equal(chosen(builder, 'r', null, null), 'route');
  assert.equal(chosen(builder, 'r', 's', null), 'route+service');
  assert.equal(chosen(builder, 'r2', 's', null), 'service');
  assert.equal(chosen(builder, 'r2', 's', 'c'), 'service+consumer');
  assert.equal(chosen(builder, 'r2', 's2', 'c'), 'consumer');
  assert.equal(chosen(builder, 'r', 's2', 'c'), 'route+consumer');
});

test('each name is chosen by itself, and scope does not change the order', () => {
  const builder = new PlanBuilder();
  builder.upsert(entry('low-route', { route: 'r' }, 'low', 1));
  builder.upsert(entry('high-global', {}, 'high', 100));
  builder.upsert(entry('middle-service', { service: 's' }, 'middle', 50));
  builder.upsert(entry('middle-global', {}, 'middle', 50));
  assert.equal(chosen(builder, 'r', 's', null), 'high-global middle-service low-route');
  assert.equal(chosen(builder, null, null, null), 'high-global middle-global');
});

test('routes without plugins of their own share one plan', () => {
  const builder = new PlanBuilder();
  builder.upsert(entry('everywhere'));
  builder.upsert(entry('special', { route: 'r1' }));
  assert.equal(builder.planFor('r2', 's', null), builder.globalPlan);
  assert.equal(builder.planFor('r3', null, 'c'), builder.globalPlan);
  assert.notEqual(builder.planFor('r1', 's', null), builder.globalPlan);
  assert.equal(builder.planFor('r1', 's', null), builder.planFor('r1', 's2', 'c'));
});

test('an instance that moves to another scope leaves the first', () => {
  const builder = new PlanBuilder();
  builder.upsert(entry('one', { route: 'r' }));
  builder.upsert(entry('one', { service: 's' }));
  assert.equal(builder.size, 1);
  assert.equal(chosen(builder, 'r', null, null), '');
  assert.equal(chosen(builder, 'r', 's', null), 'one');
});

test('a replaced instance is in the next plan', () => {
  const builder = new PlanBuilder();
  const first = entry('one');
  const second = entry('one');
  builder.upsert(first);
  assert.equal(builder.globalPlan.all[0], first.instance);
  builder.upsert(second);
  assert.equal(builder.globalPlan.all[0], second.instance);
});

test('removing what is not there changes nothing', () => {
  const builder = new PlanBuilder();
  builder.upsert(entry('one'));
  const plan = builder.globalPlan;
  builder.remove('two');
  assert.equal(builder.globalPlan, plan);
});

test('a plan lists each phase by itself and the largest bodies that it needs', () => {
  const builder = new PlanBuilder();
  const buffer = { mode: 'buffer', maxBytes: 30 } as const;
  builder.upsert({ ...entry('a'), instance: { ...instance('a', 'a', 2), needs: { requestBody: { maxBytes: 10 } } } });
  builder.upsert({
    ...entry('b'),
    instance: {
      ...instance('b', 'b', 1),
      phases: { headerFilter() {}, log() {} },
      needs: { requestBody: { maxBytes: 20 }, responseBody: buffer },
    },
  });
  const plan = builder.globalPlan;
  assert.deepEqual([plan.access.length, plan.headerFilter.length, plan.log.length, plan.rewrite.length], [1, 1, 1, 0]);
  assert.deepEqual([plan.requestBodyLimit, plan.responseBodyLimit], [20, 30]);
});
