import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ClosedBy, ClosedStreams } from './closed-streams.ts';

it('streams are remembered by how they were closed', () => {
  const closed = new ClosedStreams();
  for (let stream = 1; stream < 100; stream += 2) closed.opened(stream);
  closed.closed(1, ClosedBy.end);
  closed.closed(3, ClosedBy.us);
  closed.closed(5, ClosedBy.peer);
  assert.deepEqual(
    [1, 3, 5].map((stream) => closed.of(stream)),
    [ClosedBy.end, ClosedBy.us, ClosedBy.peer],
  );
});

it('skipped streams are not taken for closed ones', () => {
  const closed = new ClosedStreams();
  closed.opened(1);
  closed.closed(1, ClosedBy.end);
  closed.opened(7);
  assert.deepEqual(
    [1, 3, 5].map((stream) => closed.of(stream)),
    [ClosedBy.end, ClosedBy.unknown, ClosedBy.unknown],
  );
  closed.opened(100_001);
  assert.equal(closed.of(99_999), ClosedBy.unknown);
  assert.equal(closed.of(7), ClosedBy.unknown);
});

it('old streams are forgotten, and never confused with new ones', () => {
  const closed = new ClosedStreams();
  for (let stream = 1; stream < 10_001; stream += 2) {
    closed.opened(stream);
    closed.closed(stream, stream % 4 === 1 ? ClosedBy.us : ClosedBy.end);
  }
  for (let stream = 9_999; stream > 9_999 - 1_000; stream -= 2)
    assert.equal(closed.of(stream), stream % 4 === 1 ? ClosedBy.us : ClosedBy.end);
  assert.equal(closed.of(1), ClosedBy.unknown);
});
