import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { until } from '../../../test/support/until.ts';
import type { RecordingOptions } from '../../shared/traffic/traffic-record.ts';
import { TrafficDesk, type TrafficDeskOptions } from './traffic-desk.ts';
import type { TrafficFilter } from './traffic-filter.ts';

const settings = { records: 0, memory: 1e6, rate: 10, bodies: 0 };
const receiver = { record() {}, rate() {} };

function opened(lookTime: number, own: Partial<typeof settings> = {}, more: Partial<TrafficDeskOptions> = {}) {
  const switched: (RecordingOptions | null)[] = [];
  const record = (recording: RecordingOptions | null): void => void switched.push(recording);
  const desk = new TrafficDesk({ settings: { ...settings, ...own }, record, workers: () => [], lookTime, ...more });
  return { desk, bodies: () => switched.map((recording) => recording?.bodies ?? null) };
}

const all = {} as TrafficFilter;

describe('bodies', () => {
  it('are recorded for as long as somebody looks, and the recorder for as long as anybody does', async () => {
    const { desk, bodies } = opened(50);
    await desk.look(100);
    await until(() => bodies().length === 2);
    assert.deepEqual(bodies(), [100, null]);
    desk.close();
  });

  it('are switched off although the time ends while that is decided', async () => {
    let reads = 0;
    const { desk, bodies } = opened(2, {}, { now: () => reads++ });
    await desk.look(100);
    await until(() => bodies().length === 2);
    assert.deepEqual(bodies(), [100, null]);
    desk.close();
  });

  it('are switched off although requests are always recorded', async () => {
    const { desk, bodies } = opened(50, { records: 10 });
    await desk.look(100);
    await until(() => bodies().length === 3);
    assert.deepEqual(bodies(), [0, 100, 0]);
    assert.equal(desk.state, 'always');
    desk.close();
  });

  it('are as long as the longest that is asked for, and at least that of the setting', async () => {
    const { desk, bodies } = opened(1e6, { bodies: 5 });
    await desk.look();
    const first = desk.tail(all, 10, receiver);
    const second = desk.tail(all, 1000, receiver);
    const third = desk.tail(all, 20, receiver);
    second();
    third();
    first();
    assert.deepEqual(bodies(), [5, 10, 1000, 20, 10, 5]);
    assert.equal(desk.bodies, 5);
    desk.close();
  });

  it('are not shortened by who asks for less', async () => {
    const { desk, bodies } = opened(1e6);
    await desk.look(100);
    await desk.look(50);
    await desk.look(200);
    await desk.look();
    assert.deepEqual(bodies(), [100, 200]);
    desk.close();
  });
});
