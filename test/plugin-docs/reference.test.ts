import assert from 'node:assert/strict';
import { describe, it, test } from 'node:test';
import { page, referenceTables } from './reference-page.fixture.ts';
import { contextFiles, interfaceMembers } from './sdk-members.fixture.ts';

const interfaces = interfaceMembers(contextFiles);
const tables = new Map(referenceTables().map((table) => [table.name, table]));

describe('docs/plugin-reference.md', () => {
  for (const [name, members] of interfaces) {
    it(`has a row with an example for each member of ${name}`, () => {
      const rows = tables.get(name)?.rows ?? [];
      assert.deepEqual(rows.map(({ member }) => member).sort(), [...members].sort());
      for (const { member, text, example } of rows) assert.ok(text.trim() !== '' && example !== '', member);
    });
  }

  it('describes nothing that does not exist', () => {
    assert.deepEqual(
      [...tables.keys()].filter((name) => !interfaces.has(name)),
      [],
    );
  });

  it('says for each phase when it runs and what it costs', () => {
    const [overview = ''] = page('plugin-reference.md').split('\n### ');
    const rows = overview.split('\n').filter((line) => line.split(' | ').length === 5);
    const phases = rows.map((line) => /^\| `(\w+)`/.exec(line)?.[1]).filter((phase) => phase !== undefined);
    assert.deepEqual(phases.sort(), [...(interfaces.get('PluginPhases') ?? [])].sort());
  });
});

test('the members of the SDK are found', () => {
  assert.ok(interfaces.get('AccessContext')?.includes('decodedBody'));
  assert.ok(interfaces.get('PluginTools')?.includes('entities'));
  assert.ok(interfaces.get('StreamLogContext')?.includes('measures.total'));
});
