import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { preparePrefix } from './prefix.ts';

const folder = mkdtempSync(join(tmpdir(), 'prefix-'));
after(() => rmSync(folder, { recursive: true, force: true }));

test('a missing prefix is created for its owner alone', () => {
  const prefix = join(folder, 'a', 'b');
  preparePrefix(prefix);
  preparePrefix(prefix);
  assert.equal(statSync(prefix).mode & 0o777, 0o700);
  assert.equal(statSync(join(prefix, 'logs')).isDirectory(), true);
});

test('a prefix that is not writable is reported in one line', () => {
  writeFileSync(join(folder, 'file'), '');
  assert.throws(() => preparePrefix(join(folder, 'file', 'x')), {
    name: 'SettingsError',
    message: /^cannot write to the prefix .*file\/x: .*; choose another with --prefix or SLUICEGATE_PREFIX$/,
  });
});

test('a path where no directory can be created is rejected', {
  skip: process.platform === 'linux' ? false : 'needs /proc',
}, () => {
  assert.throws(() => preparePrefix('/proc/nowhere/deep'), {
    name: 'SettingsError',
    message: /^cannot write to the prefix/,
  });
});
