import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  controlPlaneMeters,
  createPluginMeter,
  MeterPhase,
  PluginMeters,
  pluginFailuresByWorker,
  readPluginMeter,
} from './plugin-meter.ts';

test('readPluginMeter() sums over all workers and the control plane', () => {
  const memory = createPluginMeter(2);
  const first = new PluginMeters(memory, 0).of('quota');
  const second = new PluginMeters(memory, 1).of('quota');
  first.failed(MeterPhase.access);
  second.failed(MeterPhase.access);
  second.failed(MeterPhase.outside);
  controlPlaneMeters(memory).of('quota').failed(MeterPhase.background);
  first.sampled(MeterPhase.log, 0.25);
  second.sampled(MeterPhase.log, 0.5);
  first.exceeded('skipped');
  second.exceeded('refused');
  second.exceeded('late');
  const { failures, samples, skipped, refused, late } = readPluginMeter(memory, 'quota');
  assert.deepEqual(Object.fromEntries(failures), { outside: 1, access: 2, background: 1 });
  assert.deepEqual(Object.fromEntries(samples), { log: { count: 2, time: 0.75 } });
  assert.deepEqual([skipped, refused, late], [1, 1, 1]);
  assert.deepEqual(readPluginMeter(memory, 'other').failures, new Map());
});

test('pluginFailuresByWorker() counts each worker alone; a successor continues', () => {
  const memory = createPluginMeter(3);
  new PluginMeters(memory, 1).of('quota').failed(MeterPhase.access);
  new PluginMeters(memory, 1).of('quota').exceeded('refused');
  new PluginMeters(memory, 2).of('other').failed(MeterPhase.access);
  controlPlaneMeters(memory).of('quota').failed(MeterPhase.background);
  assert.deepEqual(pluginFailuresByWorker(memory, 'quota'), [0, 2, 0]);
  assert.deepEqual(pluginFailuresByWorker(memory, 'other'), [0, 0, 1]);
});

test('plugins beyond the places share one, and do not change the others', () => {
  const memory = createPluginMeter(1);
  const meters = new PluginMeters(memory, 0);
  for (let at = 0; at < 300; at++) meters.of(`plugin-${at}`).failed(MeterPhase.access);
  const counts = Array.from({ length: 300 }, (_, at) => pluginFailuresByWorker(memory, `plugin-${at}`)[0]);
  assert.equal(counts.filter((count) => count === 1).length, 255);
  assert.equal(counts.filter((count) => count === 0).length, 45);
});
