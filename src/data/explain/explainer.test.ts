import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { testSettings } from '../../../test/support/settings.ts';
import type { TraceSpan } from '../../plugin-sdk/trace.ts';
import { TestClient } from '../../plugin-testing/test-client.ts';
import { testExchange } from '../../plugin-testing/test-exchange.ts';
import { TrustedPeers } from '../../shared/util/net/trusted-peers.ts';
import { AddressZone, createAddressZone } from '../../shared/zones/address-zone.ts';
import { HeaderEdits } from '../answer/header-edits.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import { proxyOptions } from '../request/options.ts';
import { debugFilter, debugOutput } from './debug-output.ts';
import { explainMode } from './explain-mode.ts';
import { Explainer } from './explainer.ts';
import { timingDetail } from './timing-detail.ts';

const token = 'a-token-of-the-tests';
const errors: string[] = [];
const quiet = { debug() {}, info() {}, warn() {}, error: (message: string) => void errors.push(message) };
const key = 'ab'.repeat(32);
const explainer = new Explainer({
  token,
  key,
  trusted: new TrustedPeers(['10.0.0.1']),
  options: proxyOptions(testSettings({ prefix: '/nowhere' })),
  zone: new AddressZone(createAddressZone(1), 0),
  log: quiet,
});

function begun(headers: Readonly<Record<string, string>>) {
  const client = new TestClient();
  const x = testExchange({ headers: { 'X-Sluicegate-Debug-Token': token, ...headers } }, buildPlan([]), client);
  const accepted = explainer.begin(x);
  return { x, client, accepted };
}

function span(kind: TraceSpan['kind'], name: string, ms: number, facts: TraceSpan['facts'] = {}): TraceSpan {
  return { kind, name, start: 1000, end: 1000 + ms, facts };
}

test('the values of X-Sluicegate-Explain', () => {
  const none = { explain: false, dry: false, method: null, bodyBytes: 0, caller: null };
  assert.deepEqual(explainMode([]), none);
  assert.deepEqual(explainMode(['1']), { ...none, explain: true });
  assert.deepEqual(explainMode(['DRY']), { ...none, explain: true, dry: true });
  assert.deepEqual(explainMode(['dry; method=HEAD']), { ...none, explain: true, dry: true, method: 'HEAD' });
  assert.deepEqual(explainMode(['1; body=100']), { ...none, explain: true, bodyBytes: 100 });
  assert.equal(explainMode(['1; body=999999999']).bodyBytes, 262_144);
  const caller = { ip: '2001:db8::1', key };
  assert.deepEqual(explainMode([`1; caller=2001:db8::1; key=${key}`]), { ...none, explain: true, caller });
  for (const wrong of ['0', '', 'yes', '1 dry', '1; method=PUT', '1;', '1; caller=10.0.0.1', `1; key=${key}`]) {
    assert.deepEqual(explainMode([wrong]), none);
  }
  assert.deepEqual(explainMode(['1', '1']), none);
});

test('only the key of the node makes the caller of the Admin API the client', () => {
  const begin = (ip: string, proof: string) => begun({ 'X-Sluicegate-Explain': `1; caller=${ip}; key=${proof}` });
  const real = begin('::ffff:203.0.113.9', key);
  assert.equal(real.accepted, true);
  assert.deepEqual([real.x.clientIp, real.x.peer.peerIp, real.x.peer.trusted], ['203.0.113.9', '203.0.113.9', false]);
  assert.equal(begin('10.0.0.1', key).x.peer.trusted, true, 'as if it had opened the connection itself');
  const forged = begin('203.0.113.9', 'cd'.repeat(32));
  assert.equal(forged.accepted, false);
  assert.notEqual(forged.x.clientIp, '203.0.113.9');
  assert.equal(begin('1.2.3', key).accepted, false);
});

test('a response without an end is abandoned after ten seconds, and explained', () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  try {
    const { x, client } = begun({ 'X-Sluicegate-Explain': '1' });
    let destroyed = false;
    x.upstream = { destroy: () => (destroyed = true) } as unknown as NonNullable<typeof x.upstream>;
    x.status = 200;
    x.downstream.sendHead(x, -1);
    for (let piece = 0; piece < 3; piece++) assert.equal(x.downstream.sendBody(x, new Uint8Array(8), 0, 8), true);
    assert.equal(client.response().body, '');
    mock.timers.tick(10_000);
    assert.equal(destroyed, true);
    const document = JSON.parse(client.response().body);
    assert.equal(document.answer.body_bytes, 24);
    assert.equal(document.answer.complete, false);
    assert.match(document.note, /no end within 10 seconds/);
  } finally {
    mock.timers.reset();
  }
});

test('an explanation that fails aborts the response, and the request ends', async () => {
  const { x, client } = begun({ 'X-Sluicegate-Explain': '1' });
  x.status = 200;
  x.downstream.sendHead(x, 0);
  Object.defineProperty(x.snapshot, 'pluginScope', { value: undefined });
  Object.defineProperty(x, 'plan', {
    get() {
      throw new Error('a mistake');
    },
  });
  x.downstream.sendEnd(x, '');
  await client.ended;
  assert.equal(client.done, false);
  assert.deepEqual(errors.splice(0), ['explaining a request failed']);
});

test('nothing is sent after the client has disconnected', async () => {
  const { x, client } = begun({ 'X-Sluicegate-Explain': 'dry' });
  assert.equal(x.trace?.stopsBefore({ host: 'h', ip: '127.0.0.1', port: 1 }), true);
  x.clientAborted = true;
  await Promise.resolve();
  assert.equal(client.response().body, '');
});

test('changes of headers are reported by name, never by value', () => {
  const before = new HeaderEdits(true);
  before.set('X-Kept', 'secret-1');
  const after = before.copy();
  after.set('X-One', 'secret-2');
  after.set('X-Kept', 'secret-3');
  after.add('X-Two', 'secret-4');
  after.remove('X-Three');
  assert.deepEqual(
    [...after.changesSince(before)],
    [
      ['x-one', 'set'],
      ['x-three', 'removed'],
      ['x-kept', 'set'],
      ['x-two', 'added'],
    ],
  );
  assert.equal(before.changesSince(before.copy()).size, 0);
});

test('X-Kong-Request-Debug-Output stays short, whatever its content', () => {
  const { x } = begun({});
  assert.equal(debugFilter([]), null);
  assert.equal(debugFilter(['no such thing!']), null);
  assert.equal(debugFilter(['access, *']), 'all');
  const many = Array.from({ length: 250 }, (_, at) => span('plugin', `plugin-number-${at}`, 1, { phase: 'access' }));
  const long = JSON.parse(debugOutput(x, many, 'all'));
  assert.equal(long.truncated, true);
  assert.ok(debugOutput(x, many, 'all').length <= 4096);
  assert.equal(long.child.access.total_time, 250);
  const names = Array.from({ length: 5 }, (_, at) => span('dns', `é${at}.test`, 1));
  const output = debugOutput(x, [...names, span('router', 'router', 2)], 'all');
  assert.match(output, /^[\x20-\x7e]+$/);
  const { access } = JSON.parse(output).child;
  assert.equal(access.child.router.total_time, 2);
  assert.deepEqual(Object.keys(access.child.dns.child), ['é0.test', 'é1.test', 'é2.test', 'é3.test', 'é4.test']);
});

test('Server-Timing adds up the phases of a plugin, and has an end', () => {
  const spans = [
    span('router', 'router', 0.5),
    span('plugin', 'cors', 1, { phase: 'access' }),
    span('plugin', 'cors', 0.25, { phase: 'headerFilter' }),
    span('attempt', 'attempt', 30),
    span('dns', 'a.test', 2),
    span('dns', 'b.test', 1),
  ];
  assert.equal(timingDetail(spans), 'router;dur=0.5, plugin-cors;dur=1.25, dns;dur=3');
  const many = Array.from({ length: 200 }, (_, at) => span('plugin', `p${at}`, 1));
  assert.equal(timingDetail(many).split(', ').length, 40);
});
