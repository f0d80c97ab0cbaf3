import assert from 'node:assert/strict';
import { test } from 'node:test';
import { snapshotEntities } from '../../../shared/messages/messages.ts';
import { bundledRegistry } from '../../declarative/declarative.fixture.ts';
import { dataPlaneRights, decided } from './data-plane-rights.ts';

test('every entity of the gateway and its plugins has a decision', async () => {
  const { definitions } = await bundledRegistry();
  assert.deepEqual(
    definitions.map(({ name }) => name).filter((name) => !Object.hasOwn(decided, name)),
    [],
    'decide in data-plane-rights.ts what data planes may do with these entities',
  );
});

test('data planes read nothing about admin users, and write no config except certificates', async () => {
  const { definitions } = await bundledRegistry();
  for (const definition of definitions) {
    const rights = dataPlaneRights.of(definition);
    const isSecret = definition.name.startsWith('admin_');
    assert.deepEqual([definition.name, rights.read, rights.feed === 'nothing'], [definition.name, !isSecret, isSecret]);
    if (isSecret) assert.equal(rights.write, 'none');
    if (definition.inConfig) {
      const isCertificate = ['certificates', 'snis'].includes(definition.name);
      assert.equal(rights.write, isCertificate ? 'managed' : 'none', definition.name);
    }
  }
});

test('data planes receive the whole rows of what they route by', async () => {
  const { byName } = await bundledRegistry();
  for (const name of snapshotEntities) {
    const definition = byName(name);
    assert.ok(definition !== undefined);
    assert.equal(dataPlaneRights.of(definition).feed, 'row');
  }
});
