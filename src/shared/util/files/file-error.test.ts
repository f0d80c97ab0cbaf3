import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { withFile } from './file-error.ts';

const write = (path: string) => () => withFile('cannot write the node id', path, () => writeFileSync(path, 'x'));

test('a file error names the file, the reason and the remedy', () => {
  const folder = mkdtempSync(join(tmpdir(), 'file-error-'));
  try {
    assert.throws(write(folder), {
      message: `cannot write the node id ${folder}: it is a directory; remove it or choose another path (EISDIR)`,
    });
    const missing = join(folder, 'no', 'where');
    assert.throws(write(missing), { message: new RegExp(`^cannot write the node id ${missing}: ENOENT`) });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test('a full disk is reported', { skip: process.platform === 'linux' ? false : 'needs /dev/full' }, () => {
  assert.throws(write('/dev/full'), {
    message: 'cannot write the node id /dev/full: the disk is full; free some space or choose another path (ENOSPC)',
  });
});
