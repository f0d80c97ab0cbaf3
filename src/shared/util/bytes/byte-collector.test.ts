import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ByteCollector } from './byte-collector.ts';

const text = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251));

for (const [expected, step] of [
  [0, 300_000],
  [0, 1],
  [0, 4097],
  [300_000, 1],
  [300_000, 65_536],
  [10, 1000],
] as const) {
  test(`returns what arrived in pieces of ${step} bytes with ${expected} announced`, () => {
    const collector = new ByteCollector(expected);
    let allocated = 0;
    for (let at = 0; at < text.length; at += step) {
      const end = Math.min(at + step, text.length);
      allocated += collector.growth(end - at);
      collector.push(text, at, end);
    }
    assert.equal(collector.size, text.length);
    assert.ok(allocated >= text.length && allocated <= text.length + 65_536, `${allocated} bytes allocated`);
    const pieces = collector.pieces();
    assert.ok(Buffer.concat(pieces).equals(text));
    assert.ok(pieces.length <= 16 || step > 4096, `${pieces.length} pieces`);
    assert.ok(collector.take().equals(text));
    assert.equal(collector.size, 0);
    assert.equal(collector.take().byteLength, 0);
  });
}

test('keeps no reference to the buffer that it received', () => {
  const shared = Buffer.from('abc');
  const collector = new ByteCollector();
  collector.push(shared, 1, 3);
  shared.fill(0);
  assert.equal(collector.take().toString(), 'bc');
});
