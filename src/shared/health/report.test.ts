import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { PassiveHealth } from '../../data/balancer/passive-health.ts';
import { AddressZone, createAddressZone } from '../zones/address-zone.ts';
import { healthConfigOf, type PassiveChecks, passiveChecksOf } from './health-config.ts';
import { countsOf } from './health-word.ts';
import { type ReportTarget, reportHttpStatus, reportSuccess, reportTcpFailure, reportTimeout } from './report.ts';

const usual = {
  healthy: { successes: 0, http_statuses: [200, 302] },
  unhealthy: { tcp_failures: 0, timeouts: 0, http_failures: 0, http_statuses: [429, 500, 503] },
};

function limits(healthy: object, unhealthy: object): PassiveChecks {
  const passive = { healthy: { ...usual.healthy, ...healthy }, unhealthy: { ...usual.unhealthy, ...unhealthy } };
  return passiveChecksOf({ passive }) as PassiveChecks;
}

function address(): ReportTarget & { counts(): ReturnType<typeof countsOf> } {
  const zone = new AddressZone(createAddressZone(1), -1);
  return { zone, slot: 2, upstreamSlot: 1, counts: () => countsOf(zone.healthWord(2)) };
}

test('failures of one kind reach their limit', () => {
  const about = address();
  const checks = limits({ successes: 1 }, { tcp_failures: 3, timeouts: 2, http_failures: 2 });
  assert.equal(reportTcpFailure(about, checks), null);
  assert.equal(reportTcpFailure(about, checks), null);
  assert.equal(reportTimeout(about, checks), null);
  assert.equal(reportHttpStatus(about, checks, 500), null);
  assert.ok(about.zone.isHealthy(2));
  const before = about.zone.version(1);
  assert.deepEqual(reportTcpFailure(about, checks), { healthy: false, reason: '3 TCP failures (limit 3)' });
  assert.ok(!about.zone.isHealthy(2));
  assert.notEqual(about.zone.version(1), before);
});

test('a success clears the failures, a failure the successes', () => {
  const about = address();
  const checks = limits({ successes: 2 }, { http_failures: 2 });
  reportHttpStatus(about, checks, 503);
  reportHttpStatus(about, checks, 200);
  assert.equal(reportHttpStatus(about, checks, 503), null);
  assert.notEqual(reportHttpStatus(about, checks, 503), null);
  reportHttpStatus(about, checks, 200);
  reportHttpStatus(about, checks, 503);
  assert.equal(reportHttpStatus(about, checks, 200), null);
  assert.deepEqual(reportHttpStatus(about, checks, 302), { healthy: true, reason: '2 successes (limit 2)' });
});

test('with a limit of 0 for successes failures add up over time', () => {
  const about = address();
  const checks = limits({}, { http_failures: 3 });
  for (let round = 0; round < 2; round++) {
    reportHttpStatus(about, checks, 500);
    for (let good = 0; good < 10; good++) reportHttpStatus(about, checks, 200);
  }
  assert.equal(about.counts().httpFailures, 2);
  assert.notEqual(reportHttpStatus(about, checks, 500), null);
  for (let good = 0; good < 10; good++) assert.equal(reportSuccess(about, checks), null);
  assert.ok(!about.zone.isHealthy(2));
});

test('a failure whose limit is 0 clears no successes', () => {
  const about = address();
  about.zone.setHealthy(2, false);
  const checks = limits({ successes: 2 }, { http_failures: 1 });
  reportSuccess(about, checks);
  reportTcpFailure(about, checks);
  assert.notEqual(reportSuccess(about, checks), null);
});

test('other statuses are ignored', () => {
  const about = address();
  const checks = limits({ successes: 1 }, { http_failures: 1 });
  for (const status of [100, 201, 301, 404, 418, 999]) assert.equal(reportHttpStatus(about, checks, status), null);
  assert.equal(about.zone.healthWord(2), 0);
});

test('every counter goes up to 255', () => {
  for (const [counter, report] of [
    ['tcpFailures', reportTcpFailure],
    ['timeouts', reportTimeout],
    ['httpFailures', (about: ReportTarget, checks: PassiveChecks) => reportHttpStatus(about, checks, 500)],
  ] as const) {
    const about = address();
    const checks = limits({ successes: 255 }, { tcp_failures: 255, timeouts: 255, http_failures: 255 });
    reportTimeout(about, limits({}, { timeouts: 255 }));
    for (let count = counter === 'timeouts' ? 2 : 1; count < 255; count++) assert.equal(report(about, checks), null);
    assert.equal(about.counts()[counter], 254);
    assert.notEqual(report(about, checks), null, counter);
    for (let count = 1; count < 255; count++) assert.equal(reportSuccess(about, checks), null);
    assert.notEqual(reportSuccess(about, checks), null);
    assert.equal(about.zone.healthWord(2), 0);
  }
});

test('setting the health by hand clears the counters', () => {
  const about = address();
  const checks = limits({ successes: 2 }, { tcp_failures: 2 });
  reportTcpFailure(about, checks);
  assert.equal(about.zone.setHealthy(2, true), false);
  assert.equal(reportTcpFailure(about, checks), null);
  assert.equal(about.zone.setHealthy(2, false), true);
  reportSuccess(about, checks);
  assert.equal(about.zone.setHealthy(2, true), true);
  assert.equal(about.zone.healthWord(2), 0);
});

test('an address without a slot stays healthy', () => {
  const about = { ...address(), slot: 0 };
  const checks = limits({ successes: 1 }, { tcp_failures: 1 });
  assert.equal(reportTcpFailure(about, checks), null);
  assert.equal(reportSuccess(about, checks), null);
  assert.ok(about.zone.isHealthy(0));
});

test('checks are off when nothing could make an address unhealthy', () => {
  assert.equal(healthConfigOf({}), null);
  assert.equal(healthConfigOf({ passive: { healthy: { successes: 5 } }, threshold: 50 }), null);
  assert.equal(healthConfigOf({ passive: { unhealthy: { timeouts: 1 } } })?.active, null);
  for (const state of ['healthy', 'unhealthy']) {
    const config = healthConfigOf({ active: { [state]: { interval: 0.25 } } });
    assert.equal(config?.passive, null);
    assert.equal(config?.active?.[state === 'healthy' ? 'healthyInterval' : 'unhealthyInterval'], 250);
  }
});

test('a passive check that flips an address is reported to the control plane once', () => {
  const zone = new AddressZone(createAddressZone(1), 0);
  const posted: unknown[] = [];
  const reports = new PassiveHealth(zone, (message) => void posted.push(message));
  const passive = limits({}, { tcp_failures: 1, timeouts: 1, http_failures: 2 });
  const upstream = { id: 'u', slot: 1, passive } as unknown as Parameters<typeof reports.failed>[0];
  const target = { slot: 2 } as Parameters<typeof reports.failed>[1];
  reports.answered(upstream, target, 200);
  reports.answered(upstream, target, 500);
  assert.deepEqual(posted, []);
  reports.failed(upstream, target, true);
  reports.failed(upstream, target, false);
  assert.deepEqual(posted, [
    { type: 'health', upstreamId: 'u', slot: 2, healthy: false, reason: '1 time-outs (limit 1)' },
  ]);
});

/** Reports at random from one thread; returns how often it has flipped the address each way. */
const reporter = `
  const { workerData, parentPort } = require('node:worker_threads');
  (async () => {
    const { AddressZone } = await import(workerData.zone);
    const { reportSuccess, reportTcpFailure, reportTimeout } = await import(workerData.report);
    const zone = new AddressZone(workerData.memory, workerData.worker);
    const about = { zone, slot: 2, upstreamSlot: 1 };
    let up = 0;
    let down = 0;
    let state = workerData.worker + 1;
    parentPort.once('message', () => {
      for (let count = 0; count < 200_000; count++) {
        state = (Math.imul(state, 1664525) + 1013904223) | 0;
        const report = [reportSuccess, reportTcpFailure, reportTimeout][(state >>> 8) % 3];
        const flip = report(about, workerData.limits);
        if (flip !== null) flip.healthy ? up++ : down++;
      }
      parentPort.postMessage({ up, down });
    });
    parentPort.postMessage('ready');
  })();
`;

test('exactly one of several threads gets each flip, and none is lost', async () => {
  const memory = createAddressZone(4);
  const checks = limits({ successes: 2 }, { tcp_failures: 2, timeouts: 3 });
  const url = (name: string): string => new URL(name, import.meta.url).href;
  const threads = [0, 1, 2, 3].map(
    (worker) =>
      new Worker(reporter, {
        eval: true,
        workerData: {
          memory,
          worker,
          limits: checks,
          zone: url('../zones/address-zone.ts'),
          report: url('./report.ts'),
        },
      }),
  );
  const next = (thread: Worker): Promise<unknown> =>
    new Promise((resolve, reject) => {
      thread.once('message', resolve);
      thread.once('error', reject);
    });
  await Promise.all(threads.map(next));
  const results = threads.map(next);
  for (const thread of threads) thread.postMessage('go');
  const flips = (await Promise.all(results)) as { up: number; down: number }[];
  await Promise.all(threads.map((thread) => thread.terminate()));
  const up = flips.reduce((sum, flip) => sum + flip.up, 0);
  const down = flips.reduce((sum, flip) => sum + flip.down, 0);
  const zone = new AddressZone(memory, -1);
  assert.ok(up > 1000, `${up} flips`);
  // Down and up alternate, beginning with down.
  assert.equal(down - up, zone.isHealthy(2) ? 0 : 1);
  assert.equal(zone.versionNow(1), up + down);
});
