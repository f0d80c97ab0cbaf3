import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LogMask } from '../../../plugin-sdk/phases.ts';
import { TestClient } from '../../../plugin-testing/test-client.ts';
import { testExchange } from '../../../plugin-testing/test-exchange.ts';
import type { RecordedBodies } from '../../../shared/traffic/traffic-record.ts';
import { buildPlan } from '../../plugin-runner/build-plan.ts';
import type { PluginInstance } from '../../plugin-runner/plan.ts';
import type { Exchange } from '../../request/exchange.ts';
import { BodyRecorder } from './body-recorder.ts';

const limit = 65_536;

function begun(recorder: BodyRecorder, plan = buildPlan([])): Exchange {
  const x = testExchange({}, plan, new TestClient());
  recorder.begin(x);
  x.status = 200;
  x.downstream.sendHead(x, -1);
  return x;
}

function masking(logMask: LogMask): ReturnType<typeof buildPlan> {
  const instance = { id: 'a', name: 'masker', priority: 1, phases: { logMask }, needs: {}, lease: null };
  return buildPlan([instance as unknown as PluginInstance]);
}

async function bodies(recorder: BodyRecorder, x: Exchange): Promise<RecordedBodies> {
  return JSON.parse((await recorder.finished(x, true)) ?? 'null') as RecordedBodies;
}

const piece = Buffer.from('a'.repeat(limit));

describe('the recorder of bodies', () => {
  it('takes no more memory for a body that trickles', async () => {
    const recorder = new BodyRecorder(limit);
    const x = begun(recorder);
    for (let at = 0; at < limit; at++) x.downstream.sendBody(x, piece, at, at + 1);
    assert.ok(recorder.memoryUsed <= 2 * limit, String(recorder.memoryUsed));
    const { response } = await bodies(recorder, x);
    assert.deepEqual([response?.bytes, response?.text?.length], [limit, limit]);
    assert.equal(recorder.memoryUsed, 0);
  });

  it('copies no more than its memory, says so, and continues when some is free', async () => {
    const recorder = new BodyRecorder(limit);
    const open = Array.from({ length: 300 }, () => begun(recorder));
    for (const x of open) x.downstream.sendBody(x, piece, 0, limit);
    assert.ok(recorder.memoryUsed <= 8_388_608);
    const shown = await Promise.all(open.slice(0, 90).map((x) => bodies(recorder, x)));
    assert.ok(shown.every(({ response }) => response?.text !== undefined || response?.reason !== undefined));
    const { response } = await bodies(recorder, open.at(-1) as Exchange);
    assert.equal(response?.reason, 'too many bodies were recorded at once');
    assert.equal(response?.bytes, limit);
    for (const x of open) recorder.finished(x, false);
    assert.equal(recorder.memoryUsed, 0);
  });

  it('lets streams that last long go first', async () => {
    // It began long ago.
    const old = testExchange({}, buildPlan([]), new TestClient());
    old.startedMono -= 60_000;
    const recorder = new BodyRecorder(limit);
    recorder.begin(old);
    old.status = 200;
    old.downstream.sendHead(old, -1);
    old.downstream.sendBody(old, piece, 0, limit);
    assert.ok(recorder.memoryUsed > 0);
    const last = Array.from({ length: 80 }, () => begun(recorder));
    for (const x of last) x.downstream.sendBody(x, piece, 0, limit);
    begun(recorder);
    const before = recorder.memoryUsed;
    // What it sends later is passed on, and not copied.
    assert.equal(old.downstream.sendBody(old, piece, 0, limit), true);
    assert.equal(recorder.memoryUsed, before);
    assert.equal(recorder.finished(old, true), null);
    for (const x of last) assert.notEqual(recorder.finished(x, true), null);
  });

  it('leaves out the bodies of records that wait too long, and what a mask does not mask', async () => {
    const recorder = new BodyRecorder(100);
    const never = masking({ body: () => new Promise(() => {}) });
    const stuck = begun(recorder, never);
    stuck.downstream.sendBody(stuck, piece, 0, 10);
    stuck.downstream.sendEnd(stuck, '');
    const first = bodies(recorder, stuck);
    const waiting = Array.from({ length: 150 }, () => {
      const x = begun(recorder);
      x.downstream.sendBody(x, piece, 0, 10);
      return bodies(recorder, x);
    });
    assert.equal((await waiting.at(-1))?.response?.reason, 'the worker was busy');
    assert.equal((await first).response?.reason, 'it took too long to mask');
    assert.equal((await waiting[0])?.response?.text, 'a'.repeat(10));
    const shown = await Promise.all(waiting);
    assert.equal(recorder.memoryUsed, 0);
    const busy = shown.filter(({ response }) => response?.reason === 'the worker was busy').length;
    assert.ok(busy >= 50, String(busy));
    assert.deepEqual([recorder.takeDropped(), recorder.takeDropped()], [busy + 1, 0]);
    for (const body of [
      () => {
        throw new Error('no');
      },
      () => Promise.reject(new Error('no')),
    ]) {
      const x = begun(recorder, masking({ body }));
      x.downstream.sendBody(x, piece, 0, 10);
      x.downstream.sendEnd(x, '');
      assert.match((await bodies(recorder, x)).response?.reason ?? '', /cannot be masked/);
    }
  });

  it('copies nothing for a change of protocol, nor after it was closed', () => {
    const recorder = new BodyRecorder(limit);
    const socket = testExchange({}, buildPlan([]), new TestClient());
    socket.head.upgrade = 'websocket';
    const before = socket.downstream;
    recorder.begin(socket);
    assert.equal(socket.downstream, before);
    const x = begun(recorder);
    x.downstream.sendBody(x, piece, 0, limit);
    recorder.close();
    assert.equal(recorder.memoryUsed, 0);
    x.downstream.sendBody(x, piece, 0, limit);
    assert.equal(recorder.memoryUsed, 0);
    assert.equal(recorder.finished(x, true), null);
  });
});
