import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pathReadings } from './path-readings.ts';

test('the readings of a long path are computed once for all rules of a request', () => {
  const path = `/${'%252f'.repeat(1600)}`;
  const readings = pathReadings(path);
  for (let rule = 0; rule < 100; rule++) assert.equal(pathReadings(path), readings);
  assert.deepEqual(pathReadings('/b;c'), ['/b;c', '/b']);
  assert.deepEqual(pathReadings(path), readings);
});

test('the number of readings does not grow with the path', () => {
  for (const unit of ['%252f', '/a;%252e%252e', '%252f%253b;a%5c', '/;%2f%3b%253b%25253b.%252e%5c%255c', '\xc0\xaf;']) {
    for (const times of [10, 1000]) assert.ok(pathReadings(`/${unit.repeat(times)}`).length <= 32, unit);
  }
});
