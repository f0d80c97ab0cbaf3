import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, lstatSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { BenchError } from '../machine/tools.ts';
import { checkOut } from './checkout.ts';

const git = (...words: string[]): ReturnType<typeof spawnSync> =>
  spawnSync('git', ['-C', import.meta.dirname, ...words], { encoding: 'utf8' });
const skip = git('rev-parse', 'HEAD').status === 0 ? false : 'the sources are not in a git repository';
const sameLock = git('diff', '--quiet', 'HEAD', '--', ':/package-lock.json').status === 0;

it('checkOut() unpacks a commit, with the dependencies installed here', {
  skip: sameLock ? skip : 'the lock file is changed',
}, () => {
  const said: string[] = [];
  const checkout = checkOut('HEAD', (text) => said.push(text));
  try {
    assert.equal(checkout.commit, String(git('rev-parse', 'HEAD').stdout).trim());
    assert.ok(existsSync(join(checkout.root, 'src', 'main.ts')));
    assert.ok(lstatSync(join(checkout.root, 'node_modules')).isSymbolicLink());
    assert.deepEqual(said, []);
  } finally {
    rmSync(checkout.root, { recursive: true, force: true });
  }
});

it('checkOut() refuses a name that is no commit', { skip }, () => {
  assert.throws(() => checkOut('no-such-branch', () => {}), BenchError);
  assert.throws(() => checkOut('--all', () => {}), BenchError);
});
