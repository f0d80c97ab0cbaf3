import assert from 'node:assert/strict';
import { test } from 'node:test';
import { testPlugin } from '../../plugin-testing/index.ts';
import { claimMatcher, claimProblem } from './claims.ts';
import authorization from './index.ts';

const claims = {
  realm_access: { roles: ['user', 'admin'] },
  resource_access: { shop: { roles: ['buyer'] }, wiki: { roles: ['editor'] } },
  memberships: [
    { team: 'core', active: true },
    { team: 'ops', active: false },
  ],
  'https://example.com/level': 3,
  'a.b': 'literal',
  a: { b: 'nested' },
};

test('finds claims by RFC 9535 paths and by names', () => {
  const found: readonly (readonly [name: string, value: string])[] = [
    ['$.realm_access.roles', 'admin'],
    ['$.realm_access.roles[*]', 'admin'],
    ['$.resource_access.*.roles', 'editor'],
    ['$.memberships[?@.active == true].team', 'core'],
    ["$['https://example.com/level']", '3'],
    ["$['a.b']", 'literal'],
    ['$.a.b', 'nested'],
    ['$..roles', 'buyer'],
    ['realm_access.roles', 'admin'],
    ['https://example.com/level', '3'],
    ['a.b', 'literal'],
    ['memberships.0.team', 'core'],
  ];
  for (const [name, value] of found) assert.equal(claimMatcher(name, [value])(claims), true, name);
  const missed: readonly (readonly [name: string, value: string])[] = [
    ['$.memberships[?@.active == true].team', 'ops'],
    ['$.a.b', 'literal'],
    ['a.b', 'nested'],
    ['$.constructor.name', 'Object'],
    ['$.realm_access', 'admin'],
    ['$.resource_access.*', 'buyer'],
  ];
  for (const [name, value] of missed) assert.equal(claimMatcher(name, [value])(claims), false, name);
});

test('refuses an invalid path in the configuration', async () => {
  for (const name of ['$.a[', '$.a[?@..b]', '$..[?@.a == $.b]']) assert.notEqual(claimProblem(name), null, name);
  for (const name of ['role', 'a[', '$ref', 'x..y', '$.a']) assert.equal(claimProblem(name), null, name);
  const checked = await testPlugin(authorization).check({ rules: [{ name: 'a', claims: { '$.a[': ['x'] } }] });
  assert.ok(!checked.ok && /is not a JSONPath/.test(checked.message));
});
