import assert from 'node:assert/strict';
import { test } from 'node:test';
import { routeRow, serviceRow } from '../../data/snapshot/snapshot.fixture.ts';
import type { Row } from '../../shared/entities/entity.ts';
import type { Change, ChangeBatch } from '../store/store.ts';
import { ConfigMirror } from './config-mirror.ts';

function upsert(version: number, entity: string, row: Row | null, id = row?.id ?? ''): Change {
  return { version, entity, id, operation: 'upsert', row };
}

function remove(version: number, entity: string, id: string): Change {
  return { version, entity, id, operation: 'delete', row: null };
}

function batch(...changes: readonly Change[]): ChangeBatch {
  return { changes, position: { store: 's', version: changes.at(-1)?.version ?? 0, stamp: 'stamp' } };
}

test('turns changes into one delta that holds the last state of each entity', () => {
  const mirror = new ConfigMirror();
  const delta = mirror.apply(
    batch(
      upsert(1, 'services', serviceRow('a')),
      upsert(2, 'routes', routeRow('r', 'a')),
      upsert(3, 'services', serviceRow('a', { port: 81 })),
      remove(4, 'routes', 'r'),
    ),
  );
  assert.deepEqual(delta, {
    version: 4,
    full: false,
    upserts: { services: [serviceRow('a', { port: 81 })] },
    removes: { routes: ['r'] },
    touched: [],
  });
  assert.equal(mirror.position.version, 4);
});

test('treats a row that no longer exists as removed', () => {
  const mirror = new ConfigMirror();
  assert.deepEqual(mirror.apply(batch(upsert(1, 'routes', null, 'r')))?.removes, { routes: ['r'] });
});

test('says which rows were written and removed before anyone here has read them', () => {
  const mirror = new ConfigMirror();
  const delta = mirror.apply(batch(upsert(1, 'node_messages', null, 'm'), remove(2, 'node_messages', 'm')));
  assert.deepEqual(delta?.touched, [
    { entity: 'node_messages', id: 'm', values: {}, unread: true },
    { entity: 'node_messages', id: 'm', values: {} },
  ]);
});

test('sends workers the changed rows of looked-up entities, with their current keys', () => {
  const mirror = new ConfigMirror();
  const row = { id: 'k', created_at: 1, key: 'secret', consumer: { id: 'c' }, tags: ['a'] };
  const delta = mirror.apply(batch(upsert(8, 'keyauth_credentials', row), remove(9, 'consumers', 'c')));
  assert.deepEqual(delta, {
    version: 9,
    full: false,
    upserts: {},
    removes: {},
    touched: [
      { entity: 'keyauth_credentials', id: 'k', values: { id: 'k', key: 'secret', consumer: 'c' } },
      { entity: 'consumers', id: 'c', values: {} },
    ],
  });
  assert.equal(mirror.position.version, 9);
});

test('has nothing to send when nothing changed', () => {
  assert.equal(new ConfigMirror().apply(batch()), null);
});

test('returns the whole config for a new worker', () => {
  const mirror = new ConfigMirror();
  mirror.apply(batch(upsert(1, 'services', serviceRow('a')), upsert(2, 'services', serviceRow('b'))));
  mirror.apply(batch(remove(3, 'services', 'a')));
  const full = mirror.full();
  assert.equal(full.full, true);
  assert.equal(full.version, 3);
  assert.deepEqual(full.upserts.services, [serviceRow('b')]);
  assert.deepEqual(full.upserts.routes, []);
});

test('compares a dump with its rows', () => {
  const mirror = new ConfigMirror();
  mirror.apply(batch(upsert(1, 'services', serviceRow('same')), upsert(2, 'services', serviceRow('gone'))));
  const entities = { services: [serviceRow('same'), serviceRow('new')] };
  assert.deepEqual(mirror.replace({ store: 's', version: 5, stamp: 'a', entities }), {
    version: 5,
    full: false,
    upserts: { services: [serviceRow('new')] },
    removes: { services: ['gone'] },
    invalidateAll: true,
  });
  const same = mirror.replace({ store: 's', version: 6, stamp: 'b', entities });
  assert.deepEqual([same.upserts, same.removes, same.invalidateAll], [{}, {}, true]);
});
