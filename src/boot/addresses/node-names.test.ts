import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NameTable } from '../../control/dns/name-table.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import { NodeNames } from './node-names.ts';

interface Stage {
  readonly names: NodeNames;
  readonly table: NameTable;
  /** What workers received: `a.test 10.0.0.1`, or `a.test gone`. */
  readonly sent: readonly string[];
  /** Names of targets that have changed. */
  readonly targets: readonly string[];
  ip: string;
}

function stage(size = 100): Stage {
  const sent: string[] = [];
  const targets: string[] = [];
  const table: NameTable = new NameTable({
    resolver: {
      resolve: async () => ({ addresses: [{ ip: made.ip, port: null, weight: null, name: 'x' }], ttl: 60_000 }),
    },
    staleTtl: 1_000,
    notFoundTtl: 1_000,
    errorTtl: 1_000,
    size,
    onChange: (name, state) => names.changed(name, state),
    onRemove: (name) => names.removed(name),
  });
  const names = new NodeNames({
    table,
    targetChanged: (name) => targets.push(name),
    broadcast(message) {
      assert.equal(message.type, 'names');
      if (message.type !== 'names') return;
      for (const [name, addresses] of Object.entries(message.names)) {
        sent.push(`${name} ${addresses === null ? 'gone' : addresses.map(({ ip }) => ip).join(',')}`);
      }
    },
  });
  const made: Stage = { names, table, sent, targets, ip: '10.0.0.1' };
  return made;
}

function services(upserts: Readonly<Record<string, string>>, removes: readonly string[] = []): SnapshotDelta {
  const rows = Object.entries(upserts).map(([id, host]) => ({ id, host, created_at: 0, updated_at: 0 }));
  return { version: 1, full: false, upserts: { services: rows }, removes: { services: removes } };
}

test('a name of a service is kept from when a worker needs it until no service has it', async (t) => {
  const { names, table, sent } = stage(1);
  t.after(() => table.close());
  names.configChanged(services({ one: 'A.test', two: 'A.test' }));
  assert.equal(table.size, 0);
  assert.equal((await names.resolve('A.test')).addresses[0]?.ip, '10.0.0.1');
  for (const other of ['b.test', 'c.test']) await names.resolve(other);
  assert.notEqual(table.get('a.test'), null, 'it is not evicted');
  names.configChanged(services({ two: 'other.test' }));
  assert.notEqual(table.get('a.test'), null);
  names.configChanged(services({}, ['one']));
  assert.equal(table.get('a.test'), null);
  assert.equal(sent.at(-1), 'A.test gone');
});

test('a name that only a plugin uses is removed from the workers when the table removes it', async (t) => {
  const { names, table, sent } = stage(1);
  t.after(() => table.close());
  await names.resolve('b.test');
  await names.resolve('c.test');
  assert.deepEqual(
    sent.filter((line) => line.endsWith('gone')),
    ['b.test gone'],
  );
});

test('targets and workers receive a change in their own spelling', async (t) => {
  const { names, table, sent, targets } = stage();
  t.after(() => table.close());
  names.watch('A.test');
  await names.resolve('a.TEST');
  names.changed('a.test', {
    addresses: [{ ip: '10.0.0.2', port: null, weight: null, name: 'x' }],
    error: null,
    failure: null,
    stale: false,
    expires: 0,
  });
  assert.equal(sent.at(-1), 'a.TEST 10.0.0.2');
  assert.equal(targets.at(-1), 'A.test');
  assert.equal(names.get('A.TEST')?.addresses[0]?.ip, '10.0.0.1');
  names.unwatch('A.test');
  const before = targets.length;
  names.changed('a.test', { addresses: [], error: 'x', failure: 'failed', stale: false, expires: 0 });
  assert.equal(targets.length, before);
});
