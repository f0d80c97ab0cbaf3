import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { startRig } from '../../../test/support/rig.ts';

const handler = `
import { shared } from '../../shared/shared.js';
import table from './table.json' with { type: 'json' };
import { other } from 'other';
export const setup = () => ({
  access: async () => {
    const { late } = await import('./late.js');
    return { status: 200, headers: [], message: null, body: [shared, table.text, other, late].join(' ') };
  },
});
`;
const index = `
import { definePlugin } from 'sluicegate/plugin-sdk';
import { record } from 'sluicegate/plugin-sdk/schema';
import { setup } from './handler.js';
export default definePlugin({ name: 'pack', version: '1.0.0', priority: 5, protocols: ['http'], schema: { config: record({}) }, setup });
`;

test('a package is loaded again with its JSON and what it imports late or by a path; other packages are not', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluicegate-package-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  };
  const manifest = (name: string) => JSON.stringify({ name, version: '1.0.0', type: 'module', exports: './index.js' });
  const texts = (text: string): void => {
    write('shared/shared.js', `export const shared = 'shared-${text}';`);
    write('node_modules/pack/table.json', JSON.stringify({ text: `json-${text}` }));
    write('node_modules/pack/late.js', `export const late = 'late-${text}';`);
    write('node_modules/other/index.js', `export const other = 'other-${text}';`);
  };
  write('shared/package.json', JSON.stringify({ type: 'module' }));
  write('node_modules/pack/package.json', manifest('pack'));
  write('node_modules/other/package.json', manifest('other'));
  write('node_modules/pack/index.js', index);
  write('node_modules/pack/handler.js', handler);
  texts('1');
  const plugins = ['bundled', join(folder, 'node_modules/pack/index.js')];
  await using rig = await startRig({ settings: { plugins, workers: 2 } });
  await rig.write('POST', '/plugins', { name: 'pack' });
  const text = async () => (await fetch(rig.gateway.proxyUrl)).text();
  texts('2');
  // It was recorded at the start, and is loaded by the first request.
  assert.equal(await text(), 'shared-1 json-1 other-1 late-1');
  const { took, ...outcome } = await rig.gateway.gateway.pluginReload.run({ observe: 0 });
  assert.deepEqual(outcome, { state: 'live', plugins: ['pack'] });
  assert.ok(took >= 0);
  for (let request = 0; request < 6; request++) assert.equal(await text(), 'shared-2 json-2 other-1 late-2');
});
