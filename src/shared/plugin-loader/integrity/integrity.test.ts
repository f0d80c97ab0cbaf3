import assert from 'node:assert/strict';
import { appendFile, cp, mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { pluginPins } from '../../settings/kinds/special-kinds.ts';
import { pluginCode } from '../code/plugin-code.ts';
import { recordModule } from '../code/recorded-module.ts';
import { loadPlugins } from '../load-plugins.ts';
import { checkRecorded } from './check-pins.ts';
import { packageDigest } from './package-digest.ts';

let base = '';
const entry = './policy';

before(async () => {
  base = await realpath(await mkdtemp(join(tmpdir(), 'integrity-')));
  await mkdir(join(base, 'policy/lib'), { recursive: true });
  await writeFile(join(base, 'policy/lib/a.js'), 'export const a = 1;');
  await writeFile(
    join(base, 'policy/index.js'),
    `import { definePlugin } from 'sluicegate/plugin-sdk';
     globalThis.policyRan = (globalThis.policyRan ?? 0) + 1;
     export default definePlugin({ name: 'policy', setup: () => ({}) });`,
  );
  await writeFile(join(base, 'policy/package.json'), '{ "type": "module" }');
});
after(() => rm(base, { recursive: true }));

const integrity = (folder = 'policy') => packageDigest(join(base, folder)).integrity;
const ran = () => (globalThis as { policyRan?: number }).policyRan ?? 0;

test('the hash depends on names and contents, and not on where the folder is or what is installed in it', async () => {
  const first = integrity();
  assert.match(first, /^sha512-[A-Za-z0-9+/]{86}==$/);
  await cp(join(base, 'policy'), join(base, 'copy'), { recursive: true });
  await mkdir(join(base, 'copy/node_modules/x'), { recursive: true });
  await writeFile(join(base, 'copy/node_modules/x/index.js'), '');
  assert.equal(integrity('copy'), first);
  await rename(join(base, 'copy/lib/a.js'), join(base, 'copy/lib/b.js'));
  assert.notEqual(integrity('copy'), first);
  await rename(join(base, 'copy/lib/b.js'), join(base, 'copy/lib/a.js'));
  assert.equal(integrity('copy'), first);
  await symlink('lib/a.js', join(base, 'copy/link.js'));
  assert.notEqual(integrity('copy'), first);
});

test('a pinned plugin loads, and one with other files does not run', async () => {
  const pins = new Map([[entry, integrity()]]);
  assert.ok((await loadPlugins([entry], base, { pins })).has('policy'));
  assert.equal(ran(), 1);
  await cp(join(base, 'policy'), join(base, 'changed'), { recursive: true });
  await appendFile(join(base, 'changed/lib/a.js'), '// changed');
  const changed = new Map([['./changed', integrity()]]);
  await assert.rejects(loadPlugins(['./changed'], base, { pins: changed }), (error: Error) => {
    assert.equal(
      error.message,
      `plugins: './changed' is not what plugins_integrity pins: expected ${integrity()}, found ${integrity('changed')} in ${join(base, 'changed')}`,
    );
    return true;
  });
  assert.equal(ran(), 1, 'no code of it ran');
});

test('a pin of a plugin that is not named is refused: it would protect nothing', async () => {
  const pins = new Map([['policy', integrity()]]);
  await assert.rejects(
    loadPlugins([entry], base, { pins }),
    /^Error: plugins_integrity: 'policy' is not an entry of plugins$/,
  );
});

test('recorded code that is not what was hashed is refused, and so is code outside of the folder', () => {
  const digest = packageDigest(join(base, 'policy'));
  const codeOf = (path: string, text: string) => {
    const url = `file://${join(base, path)}`;
    return pluginCode(join(base, 'policy/index.js'), new Map([[url, recordModule(url, 'module', text)]]));
  };
  assert.doesNotThrow(() => checkRecorded(entry, codeOf('policy/lib/a.js', 'export const a = 1;'), digest));
  assert.throws(
    () => checkRecorded(entry, codeOf('policy/lib/a.js', 'export const a = 2;'), digest),
    /'\.\/policy' changed while it was loaded \(.*lib\/a\.js\)$/,
  );
  assert.throws(
    () => checkRecorded(entry, codeOf('shared.js', ''), digest),
    /'\.\/policy' is pinned, and imports .*\/shared\.js outside of .*\/policy$/,
  );
});

test('the setting takes entries with their hashes', () => {
  const hash = integrity();
  const name = 'plugins_integrity';
  assert.deepEqual(
    [...pluginPins.parse(name, `${entry}=${hash}, @acme/x=${hash}`)],
    [
      [entry, hash],
      ['@acme/x', hash],
    ],
  );
  assert.equal(pluginPins.parse(name, '').size, 0);
  for (const text of [
    './policy',
    './policy=sha256-abc',
    `=${hash}`,
    `${entry}=${hash.slice(0, -4)}`,
    `${entry}@${hash}`,
  ]) {
    assert.throws(() => pluginPins.parse(name, text), /is not of the form <entry of plugins>=sha512-<base64>/, text);
  }
  assert.throws(() => pluginPins.parse(name, `${entry}=${hash}, ${entry}=${hash}`), /has '\.\/policy' twice/);
});
