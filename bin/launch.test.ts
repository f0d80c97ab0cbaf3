import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { after, test } from 'node:test';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const { engines } = JSON.parse(readFileSync(join(import.meta.dirname, '../package.json'), 'utf8')) as {
  readonly engines: { readonly node: string };
};
const name = `node-${process.platform}-${process.arch}`;

interface Launched {
  readonly status: number | null;
  /** The arguments of npm; empty if it was not called. */
  readonly npm: string;
  readonly output: string;
}

/**
 * Runs the launcher of a separate repository as Node `version`, with a Node in `.runtime` of version `kept` (null: none)
 * and an npm that installs `offered` (null: it fails).
 */
function launch(version: string, kept: string | null, offered: string | null): Launched {
  const root = mkdtempSync(join(tmpdir(), 'sluicegate-launch-'));
  folders.push(root);
  cpSync(import.meta.dirname, join(root, 'bin'), { recursive: true });
  writeFileSync(join(root, 'package.json'), JSON.stringify({ type: 'module', engines }));
  writeFileSync(join(root, 'package-lock.json'), '{}');
  mkdirSync(join(root, 'node_modules'));
  writeFileSync(join(root, 'node_modules/.package-lock.json'), '{}');
  writeFileSync(join(root, 'script.ts'), `console.log('ran ' + process.argv.slice(2).join(' '));`);
  const folder = join(root, '.runtime/node_modules', name);
  const install = (it: string): string =>
    `mkdir -p '${folder}/bin' && ln -sf '${process.execPath}' '${folder}/bin/node' && printf '{"version":"${it}"}' > '${folder}/package.json'`;
  if (kept !== null) spawnSync('sh', ['-c', install(kept)]);
  const tools = join(root, 'tools');
  mkdirSync(tools);
  const npm = `#!/bin/sh\necho "$@" > '${root}/npm.txt'\n${offered === null ? 'exit 1' : install(offered)}\n`;
  writeFileSync(join(tools, 'npm'), npm, { mode: 0o755 });
  const asVersion = `data:text/javascript,if(process.argv[1].endsWith('launch.js'))Object.defineProperty(process,'version',{value:'${version}'})`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', asVersion, join(root, 'bin/launch.js'), 'script.ts', 'start'],
    {
      encoding: 'utf8',
      timeout: 20_000,
      env: { PATH: [tools, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter) },
    },
  );
  let called = '';
  try {
    called = readFileSync(join(root, 'npm.txt'), 'utf8').trim();
  } catch {
    // npm was not called.
  }
  return { status, npm: called, output: stdout + stderr };
}

test('runs the script with a Node of the minimum version or of a later major', () => {
  for (const version of ['v24.18.1', 'v24.19.0', 'v26.0.0']) {
    const { status, npm, output } = launch(version, null, null);
    assert.deepEqual([status, npm, output], [0, '', 'ran start\n'], version);
  }
});

test('installs a newer Node when Node 24 is below the minimum', () => {
  const { status, npm, output } = launch('v24.18.0', null, '24.20.0');
  assert.equal(status, 0, output);
  assert.match(npm, new RegExp(`^install .*${name}@\\^24\\.18\\.1$`));
  assert.match(output, /needs Node 24\.18\.1 or later, and this machine has v24\.18\.0; installing it/);
  assert.match(output, /ran start/);
});

test('keeps the copy in .runtime while it is recent enough', () => {
  const { npm, output } = launch('v20.20.2', '24.18.1', null);
  assert.deepEqual([npm, output], ['', 'ran start\n']);
});

test('updates an older copy in .runtime', () => {
  const { npm, output } = launch('v20.20.2', '24.9.0', '24.21.0');
  assert.match(npm, new RegExp(`${name}@\\^24\\.18\\.1$`));
  assert.match(output, /updating 24\.9\.0 in \.runtime/);
  assert.match(output, /ran start/);
});

test('says what to do and runs nothing when npm fails or installs a version that is too old', () => {
  for (const offered of [null, '24.9.0']) {
    const { status, output } = launch('v20.20.2', '24.9.0', offered);
    assert.equal(status, 1);
    assert.match(output, /install Node 24\.18\.1 or later yourself/);
    assert.doesNotMatch(output, /ran start/);
  }
});
