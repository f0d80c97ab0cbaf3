import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { routeRow, serviceRow } from '../../data/snapshot/snapshot.fixture.ts';
import type { SnapshotDelta } from '../../shared/messages/messages.ts';
import type { FeedPosition } from '../store/store.ts';
import { readLastGood, writeLastGood } from './last-good.ts';
import { LastGoodWriter } from './last-good-writer.ts';

let folder = '';
let path = '';

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sluicegate-last-good-'));
  path = join(folder, 'last-good.json');
});

after(() => rm(folder, { recursive: true, force: true }));

const position: FeedPosition = { store: 'a store', version: 7, stamp: 'a stamp' };

function configOf(routes: number): SnapshotDelta {
  const rows = Array.from({ length: routes }, (_, index) =>
    routeRow(`r${index}`, 's', { tags: ['ünï', 'line\nfeed'] }),
  );
  return { version: 7, full: true, upserts: { services: [serviceRow('s')], routes: rows }, removes: {} };
}

test('reads back what was written', async () => {
  const config = configOf(1200);
  await writeLastGood(path, config, position);
  assert.deepEqual(await readLastGood(path), { ...position, entities: config.upserts });
});

test('only the owner can read the file, and no temporary file is left', async () => {
  await writeLastGood(path, configOf(1), position);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
  assert.deepEqual(await readdir(folder), ['last-good.json']);
});

test('an empty config is a config', async () => {
  await writeLastGood(path, { version: 0, full: true, upserts: {}, removes: {} }, { ...position, version: 0 });
  assert.deepEqual(await readLastGood(path), { ...position, version: 0, entities: {} });
});

test('refuses a truncated file', async () => {
  await writeLastGood(path, configOf(2), position);
  const whole = await readFile(path);
  for (let length = 0; length < whole.length; length++) {
    await writeFile(path, whole.subarray(0, length));
    await assert.rejects(readLastGood(path), Error, `${length} bytes`);
  }
});

test('refuses a file with a changed byte', async () => {
  await writeLastGood(path, configOf(2), position);
  const whole = await readFile(path);
  for (let at = 0; at < whole.length; at += 7) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1;
    await writeFile(path, changed);
    await assert.rejects(readLastGood(path), Error, `byte ${at}`);
  }
});

test('says in one line why a file is not used', async () => {
  await assert.rejects(readLastGood(join(folder, 'nowhere.json')), { message: 'the file does not exist' });
  await writeFile(path, 'something else\n');
  await assert.rejects(readLastGood(path), { message: 'not a file of this kind' });
  await writeFile(path, '{"kind":"sluicegate-last-good","format":0,"version":1,"rows":0}\n');
  await assert.rejects(readLastGood(path), { message: 'format 0 is not supported, this version reads format 1' });
  await writeFile(path, '{"kind":"sluicegate-last-good","format":1,"version":1,"rows":0}\n{"sha256":"0"}\n');
  await assert.rejects(readLastGood(path), { message: 'the file is damaged' });
});

test('many changes in a row cost one write, and the last one is in it', async () => {
  let made = 0;
  let version = 0;
  const config = (): SnapshotDelta => {
    made += 1;
    return { version, full: true, upserts: {}, removes: {} };
  };
  const writer = new LastGoodWriter({
    write: () => writeLastGood(path, config(), { ...position, version }),
    onError: (error) => assert.fail(String(error)),
    delay: 60_000,
  });
  for (version = 1; version < 100; version++) writer.changed();
  await writer.flush();
  await writer.flush();
  assert.equal(made, 1);
  assert.equal((await readLastGood(path)).version, 100);
});

test('a path that cannot be written to is reported, and does no harm', async () => {
  const errors: unknown[] = [];
  const config = (): SnapshotDelta => ({ version: 1, full: true, upserts: {}, removes: {} });
  const onError = (error: unknown): void => void errors.push(error);
  const writer = new LastGoodWriter({
    write: () => writeLastGood(join(folder, 'no', 'such', 'folder'), config(), position),
    onError,
  });
  writer.changed();
  await writer.flush();
  assert.equal(errors.length, 1);
});
