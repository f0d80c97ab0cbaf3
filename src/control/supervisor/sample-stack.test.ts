import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hottestPlace, type Profile } from './sample-stack.ts';

const gateway = new URL('../../data/plugin-runner/run-access.ts', import.meta.url).href;
const plugin = 'file:///srv/plugins/quota.ts?version=6b1f';

type Call = readonly [name: string, url: string, line: number, hits: number];

/** Each calls the next. */
function profileOf(...calls: readonly Call[]): Profile {
  const nodes = calls.map(([functionName, url, line, hitCount], at) => ({
    id: at,
    hitCount,
    children: at + 1 < calls.length ? [at + 1] : [],
    callFrame: { functionName, url, lineNumber: line - 1 },
    positionTicks: hitCount > 0 ? [{ line: line + 3, ticks: hitCount }] : [],
  }));
  return { nodes };
}

test('hottestPlace() names the line that runs, without the version of the file', () => {
  const profile = profileOf(['runAccess', gateway, 20, 0], ['access', plugin, 7, 40]);
  assert.deepEqual(hottestPlace(profile), { text: 'access (/srv/plugins/quota.ts:10)', file: '/srv/plugins/quota.ts' });
});

test('hottestPlace() names the caller in a plugin of a function of Node or the gateway', () => {
  const profile = profileOf(
    ['runAccess', gateway, 20, 1],
    ['', plugin, 7, 0],
    ['parseJson', gateway.replace('plugin-runner/run-access', 'json'), 5, 3],
    ['parse', '', 0, 30],
  );
  assert.equal(hottestPlace(profile)?.text, '(anonymous) (/srv/plugins/quota.ts:7)');
});

test('hottestPlace() names the gateway when no plugin is in the stack, and nothing without samples', () => {
  assert.match(
    hottestPlace(profileOf(['runAccess', gateway, 20, 4]))?.text ?? '',
    /^runAccess \(\/.*run-access\.ts:23\)$/,
  );
  assert.equal(hottestPlace(profileOf(['access', plugin, 7, 0])), null);
  assert.equal(hottestPlace(profileOf(['(program)', '', 0, 9])), null);
});
