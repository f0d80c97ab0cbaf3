import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { NameTable, type NameTableOptions } from './name-table.ts';
import { DnsError, type NameAnswer, type NameResolver, type NameState } from './types.ts';

/** A resolver with the answers of the test, and a clock that only the test moves. */
class Stage {
  now = 1_000_000;
  asked: string[] = [];
  answer: (name: string) => NameAnswer = () => answer(['10.0.0.1'], 60_000);
  readonly changes: string[] = [];
  readonly removed: string[] = [];
  readonly health: string[] = [];
  readonly resolver: NameResolver = {
    resolve: async (name) => {
      this.asked.push(name);
      return this.answer(name);
    },
  };

  table(options: Partial<NameTableOptions> = {}): NameTable {
    return new NameTable({
      resolver: this.resolver,
      staleTtl: 3_600_000,
      notFoundTtl: 30_000,
      errorTtl: 1_000,
      size: 100,
      random: () => 0,
      now: () => this.now,
      onChange: (name, state) => this.changes.push(`${name} ${ips(state)}`),
      onRemove: (name) => this.removed.push(name),
      onHealth: (name, { error, stale }) => this.health.push(`${name} ${error} ${stale}`),
      ...options,
    });
  }

  async pass(milliseconds: number): Promise<void> {
    this.now += milliseconds;
    mock.timers.tick(milliseconds);
    await settled();
  }
}

let stage: Stage;
beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ['setTimeout'] });
  stage = new Stage();
});

function answer(list: readonly string[], ttl: number): NameAnswer {
  return { addresses: list.map((ip) => ({ ip, port: null, weight: null, name: 'x' })), ttl };
}

function ips({ addresses }: NameState): string {
  return addresses.map(({ ip }) => ip).join(',');
}

function fail(kind: DnsError['kind'], text: string): () => never {
  return () => {
    throw new DnsError(kind, text);
  };
}

async function settled(): Promise<void> {
  for (let index = 0; index < 10; index++) await Promise.resolve();
}

test('the first answer is reported before the lookup resolves', async () => {
  const seen: string[] = [];
  const table = stage.table({ onChange: (name) => seen.push(name) });
  await table.lookup('a.test').then(() => seen.push('over'));
  assert.deepEqual(seen, ['a.test', 'over']);
});

test('a known name is not queried until its TTL is over', async () => {
  const table = stage.table();
  await table.lookup('a.test');
  await table.lookup('A.TEST');
  await stage.pass(59_999);
  assert.equal(stage.asked.length, 1);
  await stage.pass(1);
  assert.equal(stage.asked.length, 2);
  assert.deepEqual(stage.changes, ['a.test 10.0.0.1']);
});

test('refreshes of names that were resolved together are spread', async () => {
  let random = 0;
  const table = stage.table({ random: () => random });
  await table.lookup('early.test');
  random = 1;
  await table.lookup('late.test');
  stage.asked = [];
  await stage.pass(60_000);
  assert.deepEqual(stage.asked, ['early.test']);
  await stage.pass(6_000);
  assert.deepEqual(stage.asked, ['early.test', 'late.test']);
});

test('failures are retried with delays that grow to 30 s, and start again after a success', async () => {
  const table = stage.table();
  stage.answer = () => answer(['10.0.0.1'], 1_000);
  await table.lookup('a.test');
  stage.answer = fail('failed', 'down');
  const tries: number[] = [];
  const begin = stage.now + 1_000;
  for (let second = 0; second < 130; second++) {
    const before = stage.asked.length;
    await stage.pass(1_000);
    if (stage.asked.length > before) tries.push((stage.now - begin) / 1_000);
  }
  assert.deepEqual(tries, [0, 1, 3, 7, 15, 31, 61, 91, 121]);
  assert.equal(table.get('a.test')?.stale, true);
  stage.answer = () => answer(['10.0.0.1'], 1_000);
  await stage.pass(30_000);
  assert.equal(table.get('a.test')?.stale, false);
  assert.deepEqual(stage.health, ['a.test down true', 'a.test null false']);
});

test('stale addresses are removed when their time is over, not at the next attempt', async () => {
  const table = stage.table({ staleTtl: 10_000 });
  stage.answer = () => answer(['10.0.0.1'], 1_000);
  await table.lookup('a.test');
  stage.answer = fail('failed', 'down');
  await stage.pass(1_000);
  for (let second = 0; second < 9; second++) await stage.pass(1_000);
  assert.deepEqual(stage.changes, ['a.test 10.0.0.1']);
  await stage.pass(1_000);
  assert.deepEqual(stage.changes, ['a.test 10.0.0.1', 'a.test ']);
  assert.deepEqual(stage.health, ['a.test down true', 'a.test down false']);
});

test('a failure is cached for its time, then a lookup queries again', async () => {
  const table = stage.table();
  stage.answer = fail('not-found', 'no such name');
  assert.equal((await table.lookup('a.test')).error, 'no such name');
  stage.answer = fail('failed', 'down');
  await table.lookup('b.test');
  stage.asked = [];
  stage.now += 999;
  await table.lookup('b.test');
  assert.deepEqual(stage.asked, []);
  stage.now += 1;
  await table.lookup('a.test');
  await table.lookup('b.test');
  assert.deepEqual(stage.asked, ['b.test']);
});

test('an address resolves to itself, and is not stored', async () => {
  const table = stage.table();
  table.watch('10.0.0.9');
  assert.equal(ips(await table.lookup('10.0.0.9')), '10.0.0.9');
  assert.equal(ips(table.get('[2001:db8::1]') as NameState), '2001:db8::1');
  assert.deepEqual([table.size, stage.asked.length], [0, 0]);
});

test('a watched name is queried at once, and stays until all watches are removed', async () => {
  const table = stage.table();
  table.watch('a.test');
  table.watch('a.test');
  await settled();
  assert.equal(ips(table.get('a.test') as NameState), '10.0.0.1');
  table.unwatch('a.test');
  await stage.pass(2 * 3_600_000);
  assert.notEqual(table.get('a.test'), null);
  table.unwatch('a.test');
  table.unwatch('a.test');
  assert.equal(table.get('a.test'), null);
  assert.deepEqual(stage.removed, [], 'the caller removed it');
});

test('a name without a watch is removed when it was not looked up for an hour', async () => {
  const table = stage.table();
  await table.lookup('a.test');
  for (let minute = 0; minute < 60; minute++) await stage.pass(60_000);
  assert.equal(table.size, 1);
  await stage.pass(60_000);
  assert.deepEqual([table.size, stage.removed], [0, ['a.test']]);
});

test('beyond its size the table evicts the least recently looked-up name; watched names stay', async () => {
  const table = stage.table({ size: 2 });
  table.watch('watched.test');
  for (const name of ['a.test', 'b.test', 'a.test', 'c.test']) await table.lookup(name);
  assert.deepEqual(stage.removed, ['b.test']);
  assert.deepEqual([...table.entries()].map(([name]) => name).toSorted(), ['a.test', 'c.test', 'watched.test']);
});

test('the answer for a name that was removed meanwhile changes nothing', async () => {
  const table = stage.table();
  const looked = table.lookup('a.test');
  table.remove('a.test');
  assert.equal(ips(await looked), '10.0.0.1');
  assert.deepEqual([table.size, stage.changes.length], [0, 0]);
});

test('simultaneous lookups share one query, unless that is switched off', async () => {
  const table = stage.table();
  await Promise.all([table.lookup('a.test'), table.lookup('a.test')]);
  assert.equal(stage.asked.length, 1);
  const alone = stage.table({ noSync: true });
  await Promise.all([alone.lookup('b.test'), alone.lookup('b.test')]);
  assert.equal(stage.asked.length, 3);
});

test('after `close` nothing is queried', async () => {
  const table = stage.table();
  await table.lookup('a.test');
  table.close();
  await stage.pass(120_000);
  assert.equal(stage.asked.length, 1);
});

test('counts', async () => {
  const table = stage.table();
  stage.answer = () => answer(['10.0.0.1'], 1_000);
  await table.lookup('a.test');
  await table.lookup('a.test');
  stage.answer = fail('failed', 'down');
  await stage.pass(1_000);
  await table.lookup('a.test');
  assert.deepEqual({ ...table.counts }, { lookups: 3, hits: 2, stale: 1, refreshes: 2, failures: 1, changes: 1 });
});
