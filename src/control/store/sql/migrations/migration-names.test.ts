import assert from 'node:assert/strict';
import { it } from 'node:test';
import { baseMigrationNames, laterMigrationNames } from './migration-names.ts';
import { baseMigrations, laterMigrations } from './migrations.ts';

it('names all migrations, and those that have a part to finish', () => {
  assert.deepEqual(
    baseMigrationNames,
    baseMigrations.map(({ name }) => name),
  );
  assert.deepEqual(
    laterMigrationNames,
    laterMigrations.map(({ name, finish }) => ({ name, finishes: finish !== undefined })),
  );
});
