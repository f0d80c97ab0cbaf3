import assert from 'node:assert/strict';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { until } from '../../../../test/support/until.ts';
import { StoreError } from '../../store/store.ts';
import type { Answer } from '../http/admin-route.ts';
import { HttpError } from '../http/http-error.ts';
import { parseQuery } from '../http/query.ts';
import { EventStreams, type EventStreamsOptions } from './event-streams.ts';
import { eventText } from './event-text.ts';

interface Opened {
  readonly answer: Answer;
  readonly left: () => number;
}

function rig(options: Partial<EventStreamsOptions> = {}) {
  const closing = new AbortController();
  const streams = new EventStreams({ maxViewers: 2, closing: closing.signal, checkInterval: 5, ...options });
  const open = (query = '', requireStillAllowed = async () => {}): Opened => {
    let left = 0;
    const answer = streams.open({ query: parseQuery(`/x?${query}`), requireStillAllowed }, (viewer) => {
      viewer.send(eventText('first', {}));
      return () => void left++;
    });
    return { answer, left: () => left };
  };
  return { closing, streams, open };
}

function bodyOf({ stream }: Answer): Readable {
  assert.ok(stream !== undefined);
  return stream.body;
}

function statusOf(work: () => unknown): number {
  try {
    work();
  } catch (error) {
    if (error instanceof HttpError) return error.status;
    throw error;
  }
  return 200;
}

test('all viewers get what is broadcast, after their own beginning, until the node stops', async () => {
  const { closing, streams, open } = rig();
  const opened = [open(), open()];
  const reads = opened.map(({ answer }) => text(bodyOf(answer)));
  streams.broadcast(eventText('second', { requests: 3 }));
  closing.abort();
  for (const read of await Promise.all(reads)) {
    const names = [...read.matchAll(/event: (.*)\n/g)].map(([, name]) => name);
    assert.deepEqual(names, ['first', 'second', 'end']);
    assert.match(read, /"reason":"closing"/);
  }
  assert.equal(streams.size, 0);
  assert.deepEqual(
    opened.map(({ left }) => left()),
    [1, 1],
  );
  assert.equal(statusOf(open), 503);
});

test('there are never more viewers than the maximum, and one that leaves makes room', async () => {
  const { streams, open } = rig();
  const first = open();
  open();
  assert.equal(statusOf(open), 503);
  bodyOf(first.answer).destroy();
  await until(() => streams.size === 1);
  assert.equal(first.left(), 1);
  assert.equal(statusOf(open), 200);
});

test('a stream ends when its caller is refused, or has been unknown for too long', async () => {
  const { streams, open } = rig({ uncheckedLimit: 300 });
  let refused = false;
  const revoked = open('', async () => {
    if (refused) throw new HttpError(401, { message: 'Unauthorized' });
  });
  const read = text(bodyOf(revoked.answer));
  let checks = 0;
  const unknown = open('', async () => {
    checks++;
    throw new StoreError({ kind: 'unavailable' });
  });
  const other = text(bodyOf(unknown.answer));
  refused = true;
  assert.match(await read, /"reason":"signed_out"/);
  assert.match(await other, /"reason":"signed_out"/);
  assert.ok(checks > 1, 'a short outage ends nothing');
  assert.equal(streams.size, 0);
});

test('a quiet stream gets heartbeats, and a client that reads nothing is disconnected', async () => {
  const { streams, open } = rig({ heartbeat: 10, stallLimit: 40 });
  const quiet = bodyOf(open().answer);
  let seen = '';
  quiet.on('data', (bytes: Buffer) => {
    seen += bytes.toString();
  });
  await until(() => (seen.match(/^: heartbeat$/gm) ?? []).length > 3);
  const stuck = bodyOf(open().answer);
  // As when the buffers of the connection are full.
  stuck.read(0);
  streams.broadcast('x'.repeat(20_000));
  streams.broadcast('x'.repeat(20_000));
  await until(() => stuck.destroyed);
  assert.equal(streams.size, 1);
  quiet.destroy();
});

test('duration ends a stream, and is checked', async () => {
  const { streams, open } = rig();
  for (const query of ['duration=0', 'duration=x', 'duration=1.5', 'duration=86401', 'duration=1&duration=1']) {
    assert.equal(
      statusOf(() => open(query)),
      400,
      query,
    );
  }
  assert.equal(streams.size, 0);
  assert.match(await text(bodyOf(open('duration=1').answer)), /"reason":"finished"/);
});

test('a stream that cannot begin takes no place', () => {
  const { streams } = rig();
  const request = { query: parseQuery('/x'), requireStillAllowed: async () => {} };
  assert.throws(() =>
    streams.open(request, () => {
      throw new Error('no');
    }),
  );
  assert.equal(streams.size, 0);
});
