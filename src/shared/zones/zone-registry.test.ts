import assert from 'node:assert/strict';
import { test } from 'node:test';
import { definePlugin } from '../../plugin-sdk/define-plugin.ts';
import type { ZoneKind } from '../../plugin-sdk/zones.ts';
import type { SnapshotDelta } from '../messages/messages.ts';
import { ZoneRegistry } from './zone-registry.ts';

const sized = definePlugin<{ readonly bytes: number; readonly zone: string; readonly kind?: ZoneKind }>({
  name: 'sized',
  version: '1.0.0',
  priority: 1,
  protocols: ['http'],
  schema: () => Promise.reject(new Error('not asked for')),
  zones: ({ bytes, zone, kind = 'table' }) => [{ name: zone, bytes, kind }],
  setup: () => ({}),
});

function delta(upserts: readonly Readonly<Record<string, unknown>>[], removes: readonly string[] = []): SnapshotDelta {
  const plugins = upserts.map((row) => ({ created_at: 1, name: 'sized', ...row }) as never);
  return { version: 1, full: false, upserts: { plugins }, removes: { plugins: removes } };
}

function row(id: string, bytes: number, zone = 'z', more: Readonly<Record<string, unknown>> = {}) {
  return { id, config: { bytes, zone }, ...more };
}

const registry = () => new ZoneRegistry(new Map([['sized', sized]]));

test('instances that name the same zone and size share it until the last of them is removed', () => {
  const zones = registry();
  const first = zones.change(delta([row('a', 4096), row('b', 4096)]));
  assert.deepEqual(Object.keys(first?.added ?? {}), ['sized/z/4096']);
  assert.equal(zones.change(delta([], ['a'])), null);
  assert.deepEqual(zones.change(delta([], ['b'])), { added: {}, dropped: ['sized/z/4096'] });
  assert.deepEqual(zones.all(), {});
});

test('another edit keeps the content of the zone; another size creates a new one', () => {
  const zones = registry();
  zones.change(delta([row('a', 4096)]));
  const [memory] = Object.values(zones.all());
  assert.equal(zones.change(delta([row('a', 4096, 'z', { tags: ['x'] })])), null);
  assert.equal(Object.values(zones.all())[0], memory);
  const changed = zones.change(delta([row('a', 8192)]));
  assert.deepEqual(Object.keys(changed?.added ?? {}), ['sized/z/8192']);
  assert.deepEqual(changed?.dropped, ['sized/z/4096']);
});

test('a disabled instance has none; invalid sizes are ignored', () => {
  const zones = registry();
  assert.equal(zones.change(delta([row('a', 4096, 'z', { enabled: false })])), null);
  for (const bytes of [0, 4095, 1.5, Number.NaN, 2 ** 40]) assert.equal(zones.change(delta([row('a', bytes)])), null);
});

test('zones are listed with their kind, and a store that is too small is ignored', () => {
  const zones = registry();
  const store = (id: string, bytes: number) => ({ id, config: { bytes, zone: id, kind: 'store' } });
  zones.change(delta([row('a', 4096), store('b', 262_144), store('c', 262_143)]));
  assert.deepEqual(
    zones.list().map(({ name, kind }) => `${name} ${kind}`),
    ['z table', 'b store'],
  );
  assert.equal(zones.find('b', 'b')?.byteLength, 262_144);
  assert.equal(zones.find('c', 'c'), null);
});

test('a zone that cannot be allocated does not affect the others', (t) => {
  const zones = registry();
  const Memory = globalThis.SharedArrayBuffer;
  t.mock.method(globalThis, 'SharedArrayBuffer', function make(this: unknown, bytes: number) {
    if (bytes > 4096) throw new RangeError('Array buffer allocation failed');
    return new Memory(bytes);
  });
  const changed = zones.change(delta([row('a', 8192), row('b', 4096)]));
  assert.deepEqual(Object.keys(changed?.added ?? {}), ['sized/z/4096']);
});

test('a zone with a share for each worker is as large as all shares together', () => {
  const shared = definePlugin<unknown>({
    name: 'shared',
    version: '1.0.0',
    priority: 1,
    protocols: ['http'],
    schema: () => Promise.reject(new Error('not asked for')),
    zones: () => [{ name: 's', bytes: 8192, perWorker: 5000, kind: 'series' }],
    setup: () => ({}),
  });
  const zones = new ZoneRegistry(new Map([['shared', shared]]), 3);
  zones.change(delta([{ id: 'a', config: {}, name: 'shared' }]));
  assert.equal(zones.find('a', 's')?.byteLength, 8192 + 2 * 5000);
});
