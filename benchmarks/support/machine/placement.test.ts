import assert from 'node:assert/strict';
import { it } from 'node:test';
import { choosePlacement, readCores } from './placement.ts';

it('readCores() reads single cores and ranges', () => {
  assert.deepEqual(readCores('0,2-4,7'), [0, 2, 3, 4, 7]);
});

it('choosePlacement() gives the last core to the subject and the others to the load', () => {
  const own = (core: number): readonly number[] => [core];
  assert.deepEqual(choosePlacement([0, 1], own), { subject: '1', load: '0', all: '0,1' });
  assert.equal(choosePlacement([3], own), null);
});

it('choosePlacement() leaves the other thread of the subject free, unless there is no other core', () => {
  const pairs = (core: number): readonly number[] => [core - (core % 2), core - (core % 2) + 1];
  assert.deepEqual(choosePlacement([0, 1, 2, 3], pairs), { subject: '3', load: '0,1', all: '0,1,2,3' });
  assert.deepEqual(choosePlacement([0, 1], pairs), { subject: '1', load: '0', all: '0,1' });
});
