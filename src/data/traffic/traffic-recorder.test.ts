import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TestClient } from '../../plugin-testing/test-client.ts';
import { testExchange } from '../../plugin-testing/test-exchange.ts';
import type { TrafficEntry, TrafficMessage } from '../../shared/traffic/traffic-record.ts';
import { AddressZone, createAddressZone } from '../../shared/zones/address-zone.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import type { Exchange } from '../request/exchange.ts';
import { TrafficRecorder } from './traffic-recorder.ts';

const quiet = { debug() {}, info() {}, warn() {}, error: (message: string) => assert.fail(message) };

function setUp(rate: number) {
  const messages: TrafficMessage[] = [];
  const recorder = new TrafficRecorder({
    rate,
    bodies: 0,
    zone: new AddressZone(createAddressZone(1), 0),
    log: quiet,
    post: (message) => void messages.push(message),
  });
  const sum = (read: (message: TrafficMessage) => number): number =>
    messages.reduce((total, message) => total + read(message), 0);
  return { recorder, messages, sum };
}

/** A request that ends with this status; of some kilobytes. */
function serve(recorder: TrafficRecorder, status: number, header = 'x'): Exchange {
  const x = testExchange({ headers: { 'X-Long': header } }, buildPlan([]), new TestClient());
  recorder.begin(x);
  x.status = status;
  x.path = '/';
  recorder.finished(x);
  return x;
}

test('a worker whose records are not confirmed drops further ones, counts them, and continues', () => {
  const { recorder, sum } = setUp(10_000);
  const long = 'x'.repeat(20_000);
  for (let sent = 0; sent < 400; sent++) serve(recorder, 200, long);
  recorder.close();
  const characters = sum(({ records }) => records.flat().reduce((all, text) => all + (text?.length ?? 0), 0));
  const recorded = sum(({ records }) => records.length);
  assert.ok(characters > 2_000_000 && characters < 2_500_000, `${characters} characters`);
  assert.equal(
    sum(({ seen }) => seen),
    400,
  );
  assert.equal(
    sum(({ dropped }) => dropped),
    400 - recorded,
  );
  recorder.taken(characters);
  serve(recorder, 200);
  recorder.close();
  assert.equal(
    sum(({ records }) => records.length),
    recorded + 1,
  );
});

test('above the rate some requests are recorded, and some more errors', () => {
  const { recorder, messages, sum } = setUp(20);
  for (let sent = 0; sent < 200; sent++) serve(recorder, sent % 2 === 0 ? 200 : 500);
  recorder.close();
  const entries = messages.flatMap(({ records }) => records.map(([text]) => JSON.parse(text) as TrafficEntry));
  assert.equal(
    sum(({ seen }) => seen),
    200,
  );
  assert.equal(
    sum(({ dropped }) => dropped),
    0,
  );
  const late = entries.filter(({ traced }) => !traced);
  assert.ok(entries.length >= 4 && entries.length < 50, String(entries.length));
  assert.ok(late.length > 0 && late.every(({ status }) => status === 500));
});

test('a record of a hostile request is bounded', () => {
  const { recorder, messages } = setUp(100);
  const x = testExchange({ headers: { 'X-Long': 'é"\\'.repeat(40_000) } }, buildPlan([]), new TestClient());
  recorder.begin(x);
  x.status = 200;
  x.path = `/${'p'.repeat(30_000)}`;
  recorder.finished(x);
  recorder.close();
  const [entry = '', explanation = ''] = messages.flatMap(({ records }) => records)[0] ?? [];
  assert.ok(entry.length < 4_000, String(entry.length));
  assert.ok(explanation.length <= 65_536, String(explanation.length));
  assert.equal((JSON.parse(explanation) as { readonly truncated?: boolean }).truncated, true);
});
