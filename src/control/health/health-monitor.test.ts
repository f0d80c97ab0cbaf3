import assert from 'node:assert/strict';
import { test } from 'node:test';
import { reportTcpFailure } from '../../shared/health/report.ts';
import type { WatchedUpstream } from '../../shared/messages/upstream-addresses.ts';
import { AddressZone, createAddressZone } from '../../shared/zones/address-zone.ts';
import { HealthMonitor } from './health-monitor.ts';

const passive = { unhealthy: { tcp_failures: 1 } };

/** An upstream with two addresses of one target and one of another. */
function upstream(healthchecks: object, name = 'pool'): WatchedUpstream {
  const targets = [
    { row: { id: 'a' }, host: 'a.test', port: 80, error: null },
    { row: { id: 'b' }, host: '::1', port: 81, error: null },
  ];
  return {
    upstreamId: name,
    upstreamName: name,
    slot: 1,
    row: { id: name, healthchecks },
    targets,
    pending: [],
    addresses: [
      { targetId: 'a', host: 'a.test', ip: '10.0.0.1', port: 80, weight: 100, slot: 2 },
      { targetId: 'a', host: 'a.test', ip: '10.0.0.2', port: 80, weight: 100, slot: 3 },
      { targetId: 'b', host: '::1', ip: '::1', port: 81, weight: 100, slot: 4 },
    ],
  };
}

function monitored() {
  const zone = new AddressZone(createAddressZone(1), -1);
  const lines: string[] = [];
  const monitor = new HealthMonitor({
    zone,
    log: { log: (level, message, { address, reason }) => void lines.push(`${level} ${message} ${address} ${reason}`) },
    authorities: null,
    certificate: async () => null,
  });
  return { zone, monitor, lines };
}

test('health is set by hand, for a target or one address', () => {
  const { zone, monitor, lines } = monitored();
  assert.equal(monitor.setHealth('pool', 'a', null, false), 'off');
  monitor.update([upstream({ passive, threshold: 40 })]);
  const version = zone.version(1);
  assert.equal(monitor.setHealth('pool', 'a', '10.0.0.2:80', false), 'done');
  assert.notEqual(zone.version(1), version);
  assert.deepEqual(
    [2, 3, 4].map((slot) => zone.isHealthy(slot)),
    [true, false, true],
  );
  assert.equal(monitor.stateOf('pool')?.healthy, true);
  assert.equal(monitor.setHealth('pool', 'a', null, false), 'done');
  assert.equal(monitor.stateOf('pool')?.healthy, false);
  assert.equal(monitor.setHealth('pool', 'b', '[::1]:81', false), 'done');
  assert.equal(monitor.setHealth('pool', 'b', '10.0.0.1:80', false), 'unknown');
  assert.equal(monitor.setHealth('pool', 'c', null, false), 'unknown');
  assert.deepEqual(lines, [
    'warn an address is unhealthy 10.0.0.2:80 set by hand',
    'warn an address is unhealthy 10.0.0.1:80 set by hand',
    'warn an address is unhealthy [::1]:81 set by hand',
  ]);
  assert.deepEqual(
    monitor.stateOf('pool')?.transitions.map(({ address }) => address),
    ['[::1]:81', '10.0.0.1:80', '10.0.0.2:80'],
  );
});

test('edits keep health; switching checks off makes all addresses healthy, also after a late report of a worker', () => {
  const { zone, monitor } = monitored();
  monitor.update([upstream({ passive })]);
  monitor.setHealth('pool', 'a', null, false);
  monitor.update([upstream({ passive: { unhealthy: { tcp_failures: 9 } }, threshold: 10 })]);
  assert.deepEqual(
    [2, 3, 4].map((slot) => zone.isHealthy(slot)),
    [false, false, true],
  );
  monitor.update([upstream({})]);
  assert.deepEqual(
    [2, 3, 4].map((slot) => zone.isHealthy(slot)),
    [true, true, true],
  );
  assert.equal(monitor.stateOf('pool')?.checked, false);
  zone.setHealthy(4, false);
  monitor.workerFlipped({ upstreamId: 'pool', slot: 4, healthy: false, reason: '1 TCP failures (limit 1)' });
  assert.ok(zone.isHealthy(4));
});

test('an upstream that is created again has its earlier health', () => {
  const { zone, monitor } = monitored();
  monitor.update([upstream({ passive })]);
  monitor.setHealth('pool', 'b', null, false);
  monitor.update([]);
  assert.equal(monitor.stateOf('pool'), null);
  assert.equal(monitor.setHealth('pool', 'b', null, true), 'off');
  monitor.update([upstream({ passive })]);
  assert.equal(monitor.stateOf('pool')?.targets[1]?.addresses[0]?.healthy, false);
  assert.ok(!zone.isHealthy(4));
});

test('the journal and the log of an address that flaps are bounded', () => {
  const { zone, monitor, lines } = monitored();
  monitor.update([upstream({ passive })]);
  const about = { zone, slot: 2, upstreamSlot: 1 };
  const limits = { successes: 0, tcpFailures: 1, timeouts: 0, httpFailures: 0 };
  const none = { healthyStatuses: new Set<number>(), unhealthyStatuses: new Set<number>() };
  for (let count = 0; count < 500; count++) {
    const flip = reportTcpFailure(about, { ...limits, ...none });
    assert.ok(flip !== null);
    monitor.workerFlipped({ upstreamId: 'pool', slot: 2, ...flip });
    monitor.setHealth('pool', 'a', '10.0.0.1:80', true);
  }
  assert.equal(monitor.stateOf('pool')?.transitions.length, 50);
  assert.equal(lines.length, 50);
});
