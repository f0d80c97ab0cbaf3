import assert from 'node:assert/strict';
import { test } from 'node:test';
import { partialSuccess } from '../../../../test/support/otlp-metrics.ts';
import { DeliveryDeferred } from '../../delivery/delivery-errors.ts';
import type { HttpSender, SenderAnswer } from '../../delivery/http-sender.ts';
import { otlpSend } from './deliver.ts';

function answeredWith(answer: Partial<SenderAnswer>) {
  const counts = new Map<string, number>();
  const lines: string[] = [];
  const write = (message: string, fields = {}) => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const exchange: HttpSender['exchange'] = async () => ({
    status: 200,
    retryAfter: null,
    body: Buffer.alloc(0),
    ...answer,
  });
  const send = otlpSend(
    { receiver: 'http://collector:4318', exchange, send: async () => assert.fail(), close: () => {} },
    {
      count: (name, by = 1) => void counts.set(name, (counts.get(name) ?? 0) + by),
      log: { debug: write, info: write, warn: write, error: write },
    },
  );
  return { counts, lines, sending: send(Buffer.alloc(0), 5, new AbortController().signal) };
}

test('a receiver cannot have rejected more than it got, and what it says is one short line', async () => {
  const message = `no\r\n{"level":"fatal"}\u2028${'x'.repeat(10_000)}`;
  const { counts, lines, sending } = answeredWith({ body: partialSuccess(Number.MAX_SAFE_INTEGER, message) });
  await sending;
  assert.deepEqual(Object.fromEntries(counts), { entries_rejected: 5 });
  assert.ok(lines.length === 1 && (lines[0]?.length ?? 0) < 400, lines[0]);
  assert.doesNotMatch(lines[0] ?? '', /\\r|\\n|\u2028/);
});

test('an error names the receiver that refused the data', async () => {
  for (const status of [404, 503]) {
    await assert.rejects(answeredWith({ status }).sending, {
      message: `http://collector:4318 answered with status ${status}`,
    });
  }
});

test('bodies that are no messages of OTLP harm nothing', async () => {
  for (const body of [Buffer.alloc(65_536, 0x0b), Buffer.alloc(65_536, 0xff), Buffer.from('{"partialSuccess":{}}')]) {
    const { counts, sending } = answeredWith({ body });
    await sending;
    assert.equal(counts.size, 0);
  }
});

test('the pause that a receiver asks for is a number of seconds or a date, of five minutes at most', async () => {
  const soon = new Date(Date.now() + 60_000).toUTCString();
  for (const [retryAfter, least, most] of [
    ['7', 7000, 7000],
    ['999999999', 300_000, 300_000],
    ['9'.repeat(400), 0, 0],
    ['-5', 0, 0],
    ['1e308', 0, 0],
    ['NaN', 0, 0],
    ['', 0, 0],
    [null, 0, 0],
    [soon, 50_000, 60_000],
    ['Fri, 31 Dec 9999 23:59:59 GMT', 300_000, 300_000],
    ['Thu, 01 Jan 1970 00:00:00 GMT', 0, 0],
  ] as const) {
    await assert.rejects(answeredWith({ status: 503, retryAfter }).sending, (error) => {
      assert.ok(error instanceof DeliveryDeferred);
      assert.ok(error.wait >= least && error.wait <= most, `${retryAfter}: ${error.wait}`);
      return true;
    });
  }
});
