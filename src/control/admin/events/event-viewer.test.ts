import assert from 'node:assert/strict';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { eventText } from './event-text.ts';
import { EventViewer } from './event-viewer.ts';

const maxQueued = 10_000;

function viewerOf() {
  const state = { closed: 0 };
  const viewer = new EventViewer({ maxQueued, closed: () => void state.closed++ });
  return { viewer, state };
}

interface Seen {
  readonly name: string;
  readonly data: Readonly<Record<string, number>>;
}

function eventsIn(stream: string): readonly Seen[] {
  return [...stream.matchAll(/event: (\S+)\ndata: (.*)\n\n/g)].map(([, name = '', data = '']) => {
    return { name, data: JSON.parse(data) as Seen['data'] };
  });
}

test('a client that reads gets every event in order, and then the end', async () => {
  const { viewer, state } = viewerOf();
  const read = text(viewer.body);
  for (let number = 0; number < 1000; number++) {
    viewer.send(eventText('n', { number }));
    if (number % 50 === 0) await new Promise(setImmediate);
  }
  viewer.end('finished');
  viewer.send(eventText('late', {}));
  viewer.end('closing');
  const events = eventsIn(await read);
  assert.deepEqual(events.at(-1), { name: 'end', data: { reason: 'finished' } });
  const seen = events.filter(({ name }) => name === 'n').map(({ data }) => data['number']);
  assert.deepEqual(
    seen,
    Array.from({ length: 1000 }, (_, number) => number),
  );
  assert.equal(state.closed, 1);
  assert.equal(viewer.dropped, 0);
});

test('a client that does not read loses the oldest events, learns how many, and costs no more memory', async () => {
  const { viewer } = viewerOf();
  const padding = 'x'.repeat(400);
  const count = 5000;
  // The stream asks once, as for any client, before nothing is read any more.
  viewer.body.read(0);
  for (let number = 0; number < count; number++) viewer.send(eventText('n', { number, padding }));
  assert.ok(viewer.body.readableLength <= 16_384 + 500);
  assert.ok(viewer.dropped > count - 100, `${viewer.dropped}`);
  assert.ok(viewer.stalled > 0);
  const read = text(viewer.body);
  viewer.end('closing');
  const events = eventsIn(await read);
  const numbers = events.filter(({ name }) => name === 'n').map(({ data }) => data['number']!);
  const dropped = events.filter(({ name }) => name === 'dropped').map(({ data }) => data['events']!);
  assert.equal(numbers.at(-1), count - 1);
  assert.deepEqual(
    numbers,
    numbers.toSorted((a, b) => a - b),
  );
  assert.equal(dropped.length, 1);
  assert.equal(numbers.length + dropped[0]!, count);
  assert.equal(viewer.dropped, dropped[0]);
  assert.equal(events.at(-1)?.name, 'end');
});

test('a client that disconnects ends it once, and nothing is kept for it', async () => {
  const { viewer, state } = viewerOf();
  viewer.body.destroy();
  await new Promise((resolve) => viewer.body.once('close', resolve));
  viewer.send('x'.repeat(100_000));
  viewer.end('closing');
  assert.equal(state.closed, 1);
  assert.equal(viewer.stalled, 0);
});
