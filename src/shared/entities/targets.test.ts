import assert from 'node:assert/strict';
import { test } from 'node:test';
import { violationMessage } from '../schema/violation-message.ts';
import { created, NOW, patchRefusal, refusal } from './expect-row.fixture.ts';
import { presentRow, validateInput } from './rows.ts';
import { targets } from './targets.ts';

const upstream = { id: '0b0c7ffb-f03b-4be5-9f6a-8c1a4d3f4c10' };

const normalised: readonly [given: string, stored: string][] = [
  ['example.com', 'example.com:8000'],
  ['example.com:80', 'example.com:80'],
  ['1.2.3.4', '1.2.3.4:8000'],
  ['::1', '[0000:0000:0000:0000:0000:0000:0000:0001]:8000'],
  ['[2001:DB8::a]:443', '[2001:0db8:0000:0000:0000:0000:0000:000a]:443'],
  ['[::ffff:1.2.3.4]', '[0000:0000:0000:0000:0000:ffff:0102:0304]:8000'],
];

for (const [given, stored] of normalised) {
  test(`the target ${given} is stored as ${stored}`, () => {
    assert.equal(created(targets, { upstream, target: given })['target'], stored);
  });
}

test('the wording of a bad target depends on the endpoint', () => {
  assert.equal(
    refusal(targets, { upstream, target: 'a b' }),
    'schema violation (target: Invalid target; not a valid hostname or ip address)',
  );
  const other = "schema violation (target: Invalid target ('a b'); not a valid hostname or ip address)";
  assert.equal(patchRefusal(targets, created(targets, { upstream, target: 'a' }), { target: 'a b' }), other);
  const validated = validateInput(targets, { upstream, target: 'a b' });
  assert.ok(!validated.ok);
  assert.equal(violationMessage(validated.error.fields), other);
});

test('timestamps are shown in seconds with milliseconds', () => {
  const shown = presentRow(targets, created(targets, { upstream, target: 'a' }));
  assert.deepEqual([shown['created_at'], shown['updated_at']], [1_700_000_000.123, 1_700_000_000.123]);
  assert.equal(created(targets, { upstream, target: 'a', created_at: 1.5 }).created_at, 1500);
  assert.equal(NOW, 1_700_000_000_123);
});

test('a weight is a whole number up to 65535', () => {
  assert.equal(created(targets, { upstream, target: 'a' })['weight'], 100);
  assert.equal(
    refusal(targets, { upstream, target: 'a', weight: 65536 }),
    'schema violation (weight: value should be between 0 and 65535)',
  );
});
