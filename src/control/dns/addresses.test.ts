import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ServiceRecord } from './client/record-types.ts';
import { mergeAddresses } from './merge-addresses.ts';
import { serviceAddresses, usableServices } from './service-targets.ts';
import type { ResolvedAddress } from './types.ts';

function plain(...ips: readonly string[]): readonly ResolvedAddress[] {
  return ips.map((ip) => ({ ip, port: null, weight: null, name: 'a.test' }));
}

function service(target: string, port: number, weight = 1, priority = 1): ServiceRecord {
  return { type: 'SRV', name: 's.test', ttl: 60, target, port, weight, priority };
}

test('the same addresses in another order are unchanged', () => {
  const known = plain('10.0.0.1', '10.0.0.2', '10.0.0.3');
  assert.equal(mergeAddresses(known, plain('10.0.0.3', '10.0.0.1', '10.0.0.2')), known);
});

test('existing addresses keep their position, new ones follow', () => {
  const merged = mergeAddresses(plain('10.0.0.1', '10.0.0.2', '10.0.0.3'), plain('10.0.0.9', '10.0.0.3', '10.0.0.1'));
  assert.deepEqual(
    merged.map(({ ip }) => ip),
    ['10.0.0.1', '10.0.0.3', '10.0.0.9'],
  );
});

test('another weight or port is another address; duplicates are removed', () => {
  const [first] = plain('10.0.0.1');
  const known = [{ ...first!, port: 80, weight: 1 }];
  assert.notEqual(mergeAddresses(known, [{ ...known[0]!, weight: 2 }]), known);
  assert.equal(mergeAddresses([], plain('10.0.0.1', '10.0.0.1')).length, 1);
});

test('services: the lowest priority, each target and port once, and no empty target', () => {
  const records = [
    service('a.test', 80, 1, 5),
    service('', 80, 1, 0),
    service('b.test', 80, 1, 2),
    service('b.test', 80, 1, 2),
  ];
  assert.deepEqual(usableServices(records), [service('b.test', 80, 1, 2)]);
  assert.deepEqual(usableServices([service('', 0)]), []);
});

test('services: weight 0 counts as 1, port 0 is none', () => {
  const [only] = serviceAddresses([{ record: service('a.test', 0, 0), ips: ['10.0.0.1'] }]);
  assert.deepEqual(only, { ip: '10.0.0.1', port: null, weight: 1, name: 'a.test' });
});

test('services: several addresses of a target share its weight', () => {
  const weights = serviceAddresses([
    { record: service('a.test', 80, 1), ips: ['10.0.0.1', '10.0.0.2'] },
    { record: service('b.test', 80, 2), ips: ['10.0.0.3', '10.0.0.4', '10.0.0.5'] },
    { record: service('c.test', 80, 1), ips: ['10.0.0.6'] },
  ]).map(({ weight }) => weight);
  assert.deepEqual(weights, [3, 3, 4, 4, 4, 6]);
});
