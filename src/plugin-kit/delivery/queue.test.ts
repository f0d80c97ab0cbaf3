import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { cpuTime } from '../../../test/support/cpu-time.ts';
import { until } from '../../../test/support/until.ts';
import { DeliveryDeferred, DeliveryRefused } from './delivery-errors.ts';
import { DeliveryQueue, type QueueOptions } from './queue.ts';
import { ArrayQueueBuffer } from './queue-buffer.ts';
import { type QueueSettings, queueSettings } from './queue-settings.ts';
import { TextQueueBuffer } from './text-queue-buffer.ts';

const defaults: QueueSettings = {
  max_batch_size: 1,
  max_coalescing_delay: 0.01,
  max_entries: 10_000,
  max_bytes: null,
  max_retry_time: 60,
  initial_retry_delay: 0.001,
  max_retry_delay: 0.004,
  concurrency_limit: 1,
};

interface TestQueue {
  readonly queue: DeliveryQueue<string>;
  /** What `send` was called with. */
  readonly batches: (readonly string[])[];
  readonly counts: Map<string, number>;
  readonly lines: string[];
}

/** A queue whose receiver is `send`; by default it takes everything. */
function queueOf(
  settings: Partial<QueueSettings>,
  send: QueueOptions<string>['send'] = async () => {},
  times: Pick<QueueOptions<string>, 'drainTime' | 'closingTime'> = {},
): TestQueue {
  const batches: (readonly string[])[] = [];
  const counts = new Map<string, number>();
  const lines: string[] = [];
  const write = (message: string, fields = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const queue = new DeliveryQueue<string>({
    settings: { ...defaults, ...settings },
    send: (batch, signal) => {
      batches.push(batch);
      return send(batch, signal);
    },
    tools: {
      count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
      log: { debug: write, info: write, warn: write, error: write },
    },
    what: 'texts',
    ...times,
  });
  return { queue, batches, counts, lines };
}

/** A receiver that responds when the test says so. */
function slowReceiver() {
  const open: PromiseWithResolvers<void>[] = [];
  const send = () => {
    const answer = Promise.withResolvers<void>();
    open.push(answer);
    return answer.promise;
  };
  return { open, send };
}

test('sends a full batch at once, and a smaller one when the delay is over', async () => {
  const { queue, batches } = queueOf({ max_batch_size: 3, max_coalescing_delay: 0.02 });
  for (const text of ['a', 'b', 'c', 'd']) queue.push(text);
  assert.deepEqual(batches, [['a', 'b', 'c']]);
  await until(() => batches.length === 2);
  assert.deepEqual(batches[1], ['d']);
});

test('a batch waits for those before it with a limit of one, and does not without', async () => {
  for (const [limit, sent] of [
    [1, 1],
    [-1, 32],
  ] as const) {
    const { open, send } = slowReceiver();
    const { queue, batches } = queueOf({ concurrency_limit: limit }, send);
    for (let serial = 0; serial < 50; serial++) queue.push(String(serial));
    assert.equal(batches.length, sent);
    while (queue.entries > 0) {
      for (const one of open.splice(0)) one.resolve();
      await wait(1);
    }
    assert.deepEqual(
      batches.flat(),
      Array.from({ length: 50 }, (_, serial) => String(serial)),
    );
  }
});

test('tries again with growing pauses until it is delivered, in order and without a loss', async () => {
  let failures = 5;
  const { queue, batches, counts } = queueOf({ max_batch_size: 2 }, async () => {
    if (failures-- > 0) throw new Error('no');
  });
  for (const text of ['a', 'b', 'c']) queue.push(text);
  await until(() => queue.entries === 0);
  assert.deepEqual(batches, [...Array(6).fill(['a', 'b']), ['c']]);
  assert.deepEqual(Object.fromEntries(counts), { delivery_failures: 5, entries_sent: 3 });
});

test('drops a batch when its time is over, or at once when it is refused, and goes on with the next', async () => {
  for (const error of [new Error('no'), new DeliveryRefused('never')]) {
    const { queue, batches, counts } = queueOf(
      { max_retry_time: error instanceof DeliveryRefused ? 60 : 0.03 },
      (batch) => (batch[0] === 'bad' ? Promise.reject(error) : Promise.resolve()),
    );
    queue.push('bad');
    queue.push('good');
    await until(() => queue.entries === 0);
    assert.deepEqual(batches.at(-1), ['good']);
    assert.deepEqual([counts.get('entries_dropped'), counts.get('entries_sent')], [1, 1]);
    assert.equal(batches.length > 2, !(error instanceof DeliveryRefused));
  }
});

test('a batch that is to wait is tried once more after that, whatever max_retry_time says, and at once when the node ends', async () => {
  let isUp = false;
  const begun = performance.now();
  const late = queueOf({ max_retry_time: 0.02 }, async () => {
    if (performance.now() - begun < 60) throw new DeliveryDeferred('busy', 80);
  });
  late.queue.push('a');
  await until(() => late.queue.entries === 0);
  assert.deepEqual([late.batches.length, late.counts.get('entries_sent')], [2, 1]);

  const ending = queueOf({}, async () => {
    if (!isUp) throw new DeliveryDeferred('busy', 300_000);
  });
  ending.queue.push('a');
  await until(() => ending.counts.get('delivery_failures') === 1);
  isUp = true;
  await ending.queue.drain();
  assert.equal(ending.counts.get('entries_sent'), 1);
});

test('a full queue drops the oldest that are not on their way, by number and by bytes, and counts them', async () => {
  for (const bounds of [{ max_entries: 4 }, { max_bytes: 4 }]) {
    const { open, send } = slowReceiver();
    const { queue, batches, counts, lines } = queueOf(bounds, send);
    for (const text of 'abcdefgh') {
      queue.push(text);
      assert.ok(queue.entries <= 4 && queue.bytes <= 4);
    }
    assert.equal(counts.get('entries_dropped'), 4);
    while (queue.entries > 0) {
      open.pop()?.resolve();
      await wait(1);
    }
    assert.deepEqual(batches.flat(), ['a', 'f', 'g', 'h']);
    assert.equal(lines.length, 1);
  }
});

test('an entry that the queue could never hold is dropped alone', () => {
  const { queue, counts } = queueOf({ max_bytes: 5, max_batch_size: 100 });
  queue.push('abc');
  queue.push('abcdef');
  assert.deepEqual([queue.entries, queue.bytes, counts.get('entries_dropped')], [1, 3, 1]);
});

test('what a text weighs is its bytes', () => {
  const { queue } = queueOf({ max_batch_size: 100 });
  queue.push('ä€');
  assert.equal(queue.bytes, 5);
});

test('drain sends what waits, tries again at once what has failed, and ends with its time', async () => {
  let isUp = false;
  const { queue, batches } = queueOf(
    { max_batch_size: 10, max_coalescing_delay: 3600, initial_retry_delay: 3600, max_retry_delay: 3600 },
    async () => {
      if (!isUp) throw new Error('no');
    },
  );
  for (let serial = 0; serial < 25; serial++) queue.push(String(serial));
  assert.equal(batches.length, 1);
  isUp = true;
  await wait(5);
  await queue.drain();
  assert.deepEqual(
    batches.slice(1).map((batch) => batch.length),
    [10, 10, 5],
  );
  assert.equal(queue.entries, 0);

  const dead = queueOf({}, (_, signal) => new Promise((_, reject) => signal.addEventListener('abort', reject)), {
    drainTime: 30,
  });
  dead.queue.push('a');
  dead.queue.push('b');
  await dead.queue.drain();
  dead.queue.push('c');
  assert.equal(dead.queue.entries, 0);
  assert.deepEqual(Object.fromEntries(dead.counts), { entries_dropped: 3 });
});

test('close goes on delivering for its time, and takes what still comes', async () => {
  const { open, send } = slowReceiver();
  const { queue, batches } = queueOf({ max_coalescing_delay: 3600, max_batch_size: 10 }, send);
  queue.push('a');
  const closed = queue.close();
  queue.push('b');
  open[0]?.resolve();
  await until(() => open.length === 2);
  open[1]?.resolve();
  await closed;
  assert.deepEqual(batches, [['a'], ['b']]);
  await queue.close();
});

test('a hundred thousand entries wait without a timer or a promise for each', () => {
  const { queue } = queueOf({ max_entries: 1_000_000, max_batch_size: 1_000_000, max_coalescing_delay: 3600 });
  const begun = cpuTime();
  for (let serial = 0; serial < 100_000; serial++) queue.push('text');
  assert.ok(cpuTime() - begun < 500);
  assert.equal(queue.entries, 100_000);
});

test('the fields of old versions win over those that took their place', () => {
  const settings = queueSettings({ queue: defaults, queue_size: 7, flush_timeout: 3, retry_count: 10 });
  assert.deepEqual(settings, { ...defaults, max_batch_size: 7, max_coalescing_delay: 3 });
  assert.deepEqual(queueSettings({ queue: defaults, queue_size: null }), defaults);
});

test('texts in a queue with little room are counted by their exact bytes', () => {
  const queue = new DeliveryQueue({
    settings: { ...defaults, max_batch_size: 100, max_coalescing_delay: 3600, max_bytes: 10 },
    buffer: new TextQueueBuffer(),
    send: async () => {},
    tools: { count: () => {}, log: { debug() {}, info() {}, warn() {}, error() {} } },
    what: 'texts',
  });
  for (const [text, entries, bytes] of [
    ['ää', 1, 4],
    ['bb', 2, 6],
    ['cccc', 3, 10],
    ['d', 3, 7],
    ['ä€ääää', 0, 0],
    ['0123456789', 1, 10],
  ] as const) {
    queue.push(text);
    if (bytes > 0) assert.deepEqual([queue.entries, queue.bytes], [entries, bytes]);
  }
});

test('texts that wait as bytes come out joined, as they went in, whatever their sizes', () => {
  const joining = { before: '[', between: ', ', after: ']' };
  const [texts, entries] = [new TextQueueBuffer(joining), new ArrayQueueBuffer<string>()];
  const assertTaken = (most: number): void => {
    const [batch, expected] = [texts.take(most), entries.take(most)];
    assert.equal(batch.length, expected.length);
    assert.equal(Buffer.from(batch.bytes).toString(), `[${expected.join(', ')}]`.toWellFormed());
  };
  const pieces = ['', 'a', 'ä€𝄞', 'lone \ud800', 'x'.repeat(100_000), 'y'.repeat(300_000), 'long '.repeat(40_000)];
  let state = 7;
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647;
    return state % below;
  };
  for (let step = 0; step < 4_000; step++) {
    const piece = pieces[random(pieces.length)] ?? '';
    const size = Buffer.byteLength(piece);
    if (random(3) > 0) {
      entries.push(piece, size);
      const isMeasured = texts.maxSize(piece) === Number.POSITIVE_INFINITY || random(2) === 0;
      assert.ok(texts.maxSize(piece) >= size);
      texts.push(piece, isMeasured ? size : -1);
    } else if (random(2) === 0) assert.equal(texts.dropOldest(), entries.dropOldest());
    else assertTaken(random(5));
    assert.deepEqual([texts.length, texts.bytes], [entries.length, entries.bytes]);
    if (texts.length > 40) assertTaken(30);
    if (random(500) === 0) for (const store of [texts, entries]) store.clear();
  }
});
