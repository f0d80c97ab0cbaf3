import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';

const module = (name: string): string => JSON.stringify(new URL(name, import.meta.url).href);

/** In a process of its own: a collection can be asked for, and nothing else is in the heap. */
const script = `
import { readFileSync } from 'node:fs';
const { importVersion, useCode } = await import(${module('./code-hooks.ts')});
const { pluginCode } = await import(${module('./plugin-code.ts')});
const { recordModule } = await import(${module('./recorded-module.ts')});
const { resolveContractImports } = await import(${module('../resolve-contract.ts')});
resolveContractImports();
const folder = new URL('../../../../examples/plugins/hello/', ${module('./code-hooks.ts')});
const codeOf = (version) => {
  const files = ['index.ts', 'handler.ts'].map((name) => new URL(name, folder));
  const record = (url) => [url.href, recordModule(url.href, 'module-typescript', readFileSync(url, 'utf8') + '//' + version)];
  return pluginCode(files[0].pathname, new Map(files.map(record)));
};
const load = async (version) => {
  const code = codeOf(version);
  useCode([code]);
  const { default: plugin } = await importVersion(code);
  return plugin;
};
const used = () => { gc(); gc(); return process.memoryUsage().heapUsed; };
const first = await load(0);
if (first === (await load(1)) || first !== (await load(0))) throw new Error('equal code is loaded once, and other code again');
for (let version = 2; version < 20; version++) await load(version);
const before = used();
for (let version = 100; version < 200; version++) await load(version);
const distinct = used();
for (let reload = 0; reload < 1000; reload++) await load(100 + (reload % 2));
console.log(JSON.stringify({ distinct: (distinct - before) / 100, alternating: (used() - distinct) / 1000 }));
`;

test('1,000 reloads between two versions leave the heap flat; a further version costs some kilobytes', () => {
  const flags = ['--expose-gc', '--no-warnings', '--conditions=sluicegate-source', '--input-type=module', '-e', script];
  const bytes = JSON.parse(execFileSync(process.execPath, flags, { encoding: 'utf8', timeout: 120_000 }));
  assert.ok(bytes.alternating < 1024, `${bytes.alternating} bytes for each reload`);
  assert.ok(bytes.distinct < 100 * 1024, `${bytes.distinct} bytes for each version`);
});
