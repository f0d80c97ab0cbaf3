import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { after, it } from 'node:test';
import { fileURLToPath } from 'node:url';
import '../../../test/support/file-end.ts';
import { createStore } from './create-store.ts';
import { openSqliteDatabase } from './sql/sqlite/sqlite-database.ts';
import { testDefinitions } from './store.fixture.ts';

const rounds = 12;
const child = fileURLToPath(new URL('./insert-forever.fixture.ts', import.meta.url));
const directory = mkdtempSync(join(tmpdir(), 'sluicegate-durability-'));
const file = join(directory, 'sluicegate.db');
after(() => rmSync(directory, { recursive: true, force: true }));

/** Starts the child, kills it at once after so many lines of output, and returns every id that it had printed. */
async function insertUntilKilled(lines: number): Promise<readonly string[]> {
  const running = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', child, file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(running, 'close');
  const printed: string[] = [];
  createInterface({ input: running.stdout }).on('line', (line) => {
    printed.push(line);
    if (printed.length === lines) running.kill('SIGKILL');
  });
  const [, signal] = await closed;
  assert.equal(signal, 'SIGKILL');
  return printed.slice(1);
}

it('a node killed at any moment has every row that it had confirmed, and opens again', {
  timeout: 60_000,
}, async () => {
  const confirmed: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // The first rounds are killed while the store is being created or opened.
    const lines = round < 3 ? 1 : 2 + Math.floor(Math.random() * 60);
    confirmed.push(...(await insertUntilKilled(lines)));
    const store = await createStore({ kind: 'sqlite', file, definitions: testDefinitions });
    await store.migrate();
    const { version, entities } = await store.dump(['services']);
    const stored = new Set(entities['services']?.map((row) => row.id));
    assert.deepEqual(
      confirmed.filter((id) => !stored.has(id)),
      [],
    );
    // Rows, changes and tags are of the same transactions: none is there without the others.
    assert.equal(version, stored.size);
    assert.equal((await store.listTags({ skip: 0, limit: 100_000 })).length, 2 * stored.size);
    await store.close();
  }
  assert.ok(confirmed.length > rounds);
});

it('a commit waits for the disk', () => {
  const database = openSqliteDatabase(join(directory, 'pragmas.db'), { durability: 'full' });
  const pragma = (name: string): unknown => Object.values(Object(database.prepare(`pragma ${name}`).all([])[0]))[0];
  assert.equal(pragma('journal_mode'), 'wal');
  assert.equal(pragma('synchronous'), 2);
  assert.equal(pragma('foreign_keys'), 1);
  database.close();
});
