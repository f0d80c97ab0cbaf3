import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matches, matchesTags } from './tag-pattern.ts';

test('a pattern matches the whole tag, and * any text', () => {
  const cases: readonly (readonly [pattern: string, tag: string, expected: boolean])[] = [
    ['team-a', 'team-a', true],
    ['team-a', 'team-ab', false],
    ['team-a', 'xteam-a', false],
    ['team-a', 'Team-A', false],
    ['team-a-*', 'team-a-', true],
    ['team-a-*', 'team-a-b', true],
    ['team-a-*', 'team-a', false],
    ['*', '', true],
    ['*', 'x', true],
    ['*-a', 'team-a', true],
    ['*-a', 'team-ab', false],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'acb', false],
    ['team.a', 'team-a', false],
    ['[ab]', 'a', false],
    ['?', 'a', false],
    ['', 'a', false],
    ['', '', true],
  ];
  for (const [pattern, tag, expected] of cases) assert.equal(matches(pattern, tag), expected, `${pattern} on ${tag}`);
});

test('one matching tag is enough; without tags or patterns nothing matches', () => {
  assert.equal(matchesTags(['a', 'b'], ['c', 'b']), true);
  assert.equal(matchesTags(['*'], []), false);
  assert.equal(matchesTags([], ['a']), false);
});

test('a pattern of many stars takes no exponential time', () => {
  assert.equal(matches('*a'.repeat(60), `${'a'.repeat(10_000)}b`), false);
});
