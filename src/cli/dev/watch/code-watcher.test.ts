import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { until } from '../../../../test/support/until.ts';
import { type ChangedFiles, CodeWatcher, type CodeWatcherOptions } from './code-watcher.ts';

interface Rig {
  readonly folder: string;
  readonly watcher: CodeWatcher;
  readonly changes: ChangedFiles[];
  readonly path: (name: string) => string;
  /** Resolves when all of these files were in some batch since the last call. */
  readonly reported: (...names: readonly string[]) => Promise<void>;
}

function rig(t: TestContext, options: Partial<CodeWatcherOptions> = {}): Rig {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-watch-'));
  const path = (name: string): string => join(folder, name);
  writeFileSync(path('index.ts'), 'export {};');
  writeFileSync(path('handler.ts'), 'export const a = 1;');
  const changes: ChangedFiles[] = [];
  const watcher = new CodeWatcher({ roots: [folder], changed: (change) => changes.push(change), ...options });
  t.after(() => {
    watcher.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    ...{ folder, watcher, changes, path },
    reported: async (...names) => {
      await until(() => names.every((name) => changes.some(({ files }) => files.includes(path(name)))));
      changes.length = 0;
    },
  };
}

/** As on a system that allows no more watches. */
const refused: CodeWatcherOptions['watchFolder'] = () => {
  throw Object.assign(new Error('ENOSPC: System limit for number of file watchers reached'), { code: 'ENOSPC' });
};

for (const [how, options] of [
  ['notified', {}],
  ['polling', { watchFolder: refused }],
] as const) {
  test(`a file that is written in place is reported (${how})`, async (t) => {
    const { path, reported, watcher } = rig(t, options);
    assert.equal(watcher.polls, how === 'polling');
    writeFileSync(path('handler.ts'), 'export const a = 22;');
    await reported('handler.ts');
  });

  test(`a file that an editor replaces by a rename is reported, each time (${how})`, async (t) => {
    const { path, reported } = rig(t, options);
    for (const text of ['export const a = 2;', 'export const a = 3;', 'export const a = 4;']) {
      writeFileSync(path('.handler.ts.swp'), text);
      renameSync(path('.handler.ts.swp'), path('handler.ts'));
      await reported('handler.ts');
    }
  });

  test(`a new file, a file in a new folder, and a deleted file are reported (${how})`, async (t) => {
    const { path, reported } = rig(t, options);
    writeFileSync(path('limits.ts'), 'export const limit = 1;');
    await reported('limits.ts');
    mkdirSync(path('lib'));
    writeFileSync(path('lib/words.ts'), 'export const word = 1;');
    await reported('lib/words.ts');
    writeFileSync(path('lib/words.ts'), 'export const word = 12;');
    await reported('lib/words.ts');
    rmSync(path('limits.ts'));
    await reported('limits.ts');
  });
}

test('files that are saved together come in one batch', async (t) => {
  const { path, changes } = rig(t, { settle: 100, longest: 5000 });
  for (const name of ['index.ts', 'handler.ts', 'schema.ts']) writeFileSync(path(name), 'export const b = 3;');
  await until(() => changes.length > 0);
  assert.deepEqual(
    changes.map(({ files }) => files.toSorted()),
    [[path('handler.ts'), path('index.ts'), path('schema.ts')]],
  );
});

test('packages, hidden folders, documents and what editors write next to a file are no changes', async (t) => {
  const { path, changes, reported } = rig(t);
  for (const folder of ['node_modules/left-pad', '.git']) mkdirSync(path(folder), { recursive: true });
  const others = ['node_modules/left-pad/index.js', '.git/index.json', 'README.md', '.#handler.ts', '4913', 'a.ts~'];
  for (const name of others) writeFileSync(path(name), 'text');
  writeFileSync(path('handler.ts'), 'export const a = 5;');
  await until(() => changes.length > 0);
  assert.deepEqual(
    changes.flatMap(({ files }) => files),
    [path('handler.ts')],
  );
  await reported('handler.ts');
});

test('a file outside the folders is watched when it is named, until others are', async (t) => {
  const { watcher, changes } = rig(t);
  const elsewhere = mkdtempSync(join(tmpdir(), 'sluicegate-watch-'));
  t.after(() => rmSync(elsewhere, { recursive: true, force: true }));
  const shared = join(elsewhere, 'shared.ts');
  writeFileSync(shared, 'export const a = 1;');
  watcher.watchAlso([shared]);
  writeFileSync(shared, 'export const a = 22;');
  await until(() => changes.some(({ files }) => files.includes(shared)));
});

test('a save that first empties the file is reported when its content is there', async (t) => {
  const { path, changes } = rig(t, { settle: 10, longest: 60_000 });
  writeFileSync(path('handler.ts'), '');
  setTimeout(() => writeFileSync(path('handler.ts'), 'export const a = 7;'), 40);
  await until(() => changes.length > 0);
  assert.equal(changes.length, 1);
});
