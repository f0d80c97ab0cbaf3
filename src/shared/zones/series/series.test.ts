import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  readSeries,
  SeriesReader,
  SeriesWriter,
  seriesWriter,
  seriesZone,
} from '../../../plugin-kit/shared-memory/series.ts';
import { zoneFill } from '../zone-kinds.ts';
import { clearSeries, seriesStats } from './series.ts';
import { seriesLayout } from './series-layout.ts';

function memoryFor(entries: number, cells: number, workers = 1): SharedArrayBuffer {
  const { bytes, perWorker = 0 } = seriesZone('s', { entries, cells });
  return new SharedArrayBuffer(bytes + perWorker * (workers - 1));
}

function sumsOf(memory: SharedArrayBuffer, cells: number): Record<string, number[]> {
  const { series } = readSeries(memory, cells);
  return Object.fromEntries(series.map(({ labels, cells: sums }) => [labels.join('|'), [...sums]]));
}

test('series are sums over all workers, whatever their labels', () => {
  const memory = memoryFor(100, 3, 2);
  const [one, two] = [new SeriesWriter(memory, 0, 3), new SeriesWriter(memory, 1023, 3)];
  const labels = ['a "quoted" \\ one', 'zwei\nZeilen\0und mehr', '', '\ud800', '{}'];
  const place = one.place(labels);
  assert.equal(one.place([...labels]), place);
  one.values[place]! += 0.5;
  one.values[place + 2]! += 2 ** 40;
  two.values[two.place(labels)]! += 2;
  two.values[two.place(['other']) + 1]! += 7;
  const { series, overflow } = readSeries(memory, 3);
  assert.deepEqual(
    series.map(({ labels: each, cells }) => [each, [...cells]]),
    [
      [labels, [2.5, 0, 2 ** 40]],
      [['other'], [0, 7, 0]],
    ],
  );
  assert.deepEqual([...overflow], [0, 0, 0]);
});

test('similar labels have separate series', () => {
  const memory = memoryFor(100, 1);
  const writer = new SeriesWriter(memory, 0, 1);
  const sets = [['a', 'b'], ['a,b'], ['a","b'], ['ab', ''], ['', 'ab'], ['["a"]'], ['']];
  assert.equal(new Set(sets.map((labels) => writer.place(labels))).size, sets.length);
  assert.deepEqual(
    readSeries(memory, 1).series.map(({ labels }) => labels),
    sets,
  );
});

test('labels without a series are counted in the overflow, over all workers together', () => {
  const memory = memoryFor(10, 2);
  const writers = [0, 1, 2].map((worker) => new SeriesWriter(memory, worker, 2));
  for (let round = 0; round < 5000; round++) {
    for (const writer of writers) writer.values[writer.place([`label ${round}`]) + 1]! += 1;
  }
  const { series, overflow } = readSeries(memory, 2);
  assert.ok(series.length > 10 && series.length < 1000);
  assert.ok(overflow[1]! > 10_000);
  assert.equal(
    series.reduce((sum, { cells }) => sum + cells[1]!, overflow[1]!),
    15_000,
  );
  const [writer] = writers;
  assert.equal(writer?.place(['x'.repeat(3000)]), writer?.place([]), 'labels that are too long');
});

test('as many series fit as were requested, in each worker', () => {
  for (const cells of [1, 6, 50, 700]) {
    const memory = memoryFor(1000, cells, 3);
    for (let worker = 0; worker < 3; worker++) {
      const writer = new SeriesWriter(memory, worker, cells);
      for (let at = 0; at < 1000; at++)
        writer.place([`worker ${worker}`, `a usual name of a service ${at}`, 'GET', '200']);
      assert.notEqual(
        writer.place([`worker ${worker}`, 'a usual name of a service 999', 'GET', '200']),
        writer.place([]),
      );
    }
    const fill = zoneFill('series', memory);
    assert.ok('taken' in fill && fill.taken <= fill.capacity && fill.used === 3000 && fill.capacity < fill.bytes);
  }
});

test('a second writer of the same worker finds the cells of the first, before and after', () => {
  const memory = memoryFor(100, 1);
  const first = new SeriesWriter(memory, 4, 1);
  const before = first.place(['before']);
  const second = new SeriesWriter(memory, 4, 1);
  assert.equal(second.place(['before']), before);
  const after = first.place(['after']);
  assert.equal(second.place(['after']), after);
  assert.equal(first.place(['third']), second.place(['third']));
  assert.notEqual(new SeriesWriter(memory, 5, 1).place(['before']), before);
  assert.equal(seriesStats(memory).used, 4);
});

test('a reader sees what was added since, and what was cleared', () => {
  const memory = memoryFor(100, 1);
  const writer = new SeriesWriter(memory, 0, 1);
  const reader = new SeriesReader(memory, 1);
  assert.deepEqual(reader.entries(), []);
  writer.values[writer.place(['one'])]! += 3;
  const entries = reader.entries();
  writer.values[writer.place(['one'])]! += 3;
  assert.deepEqual(
    entries.map((entry) => [...entry.labels, ...reader.sum(entry)]),
    [['one', 6]],
  );
  writer.values[writer.place([])]! += 5;
  assert.deepEqual([...reader.overflow()], [5]);
  clearSeries(memory);
  writer.reset();
  writer.values[writer.place(['two'])]! += 1;
  assert.deepEqual(
    reader.entries().map((entry) => [...entry.labels, ...reader.sum(entry)]),
    [['two', 1]],
  );
  assert.deepEqual([...reader.overflow()], [0]);
  assert.equal(seriesStats(memory).used, 1);
});

test('a cleared cell begins with zeros, also when another series uses it', () => {
  const memory = memoryFor(20, 2);
  const writer = new SeriesWriter(memory, 0, 2);
  for (const names of [['a', 'bb', 'ccc'], ['longer names '.repeat(3), 'z'], ['q']]) {
    for (const name of names) writer.values.fill(9, writer.place([name]), writer.place([name]) + 2);
    assert.deepEqual(sumsOf(memory, 2), Object.fromEntries(names.map((name) => [name, [9, 9]])));
    clearSeries(memory);
    writer.reset();
    for (const name of names) writer.place([name]);
    assert.deepEqual(sumsOf(memory, 2), Object.fromEntries(names.map((name) => [name, [0, 0]])));
    clearSeries(memory);
    writer.reset();
  }
});

test('the largest memory that a zone can have is used to its end', () => {
  // Large records, so that there are few chunks: each of them is checked.
  const cells = 4000;
  const memory = new SharedArrayBuffer(2 ** 31);
  const { chunkCount, owners } = seriesLayout(memory.byteLength, cells);
  // All but the last chunk belong to others.
  new Int32Array(memory).fill(9, owners, owners + chunkCount - 1);
  const writer = new SeriesWriter(memory, 0, cells);
  writer.values[writer.place(['a'])]! += 3;
  assert.equal(sumsOf(memory, cells)['a']?.[0], 3);
  assert.equal(seriesStats(memory).used, 1);
  clearSeries(memory);
  assert.deepEqual(sumsOf(memory, cells), {});
});

test('all instances of a thread that share a memory have one writer', () => {
  const memory = memoryFor(100, 1);
  const first = seriesWriter(memory, 0, 1);
  first.values[first.place(['a'])]! += 1;
  assert.equal(seriesWriter(memory, 0, 1), first);
  assert.notEqual(seriesWriter(memory, 1, 1), first);
  assert.notEqual(seriesWriter(memoryFor(100, 1), 0, 1), first);
});
