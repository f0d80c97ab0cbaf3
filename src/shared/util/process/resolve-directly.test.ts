import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const folder = mkdtempSync(join(tmpdir(), 'sluicegate-resolve-'));
after(() => rmSync(folder, { recursive: true, force: true }));
const src = new URL('../../../', import.meta.url).href;

/** Runs code in a process with the hook, and returns what it prints. */
async function printed(code: string): Promise<string> {
  const hook = JSON.stringify(new URL('./resolve-directly.ts', import.meta.url).href);
  const script = `const { resolveDirectly } = await import(${hook});\nresolveDirectly();\n${code}`;
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [
    '--conditions=sluicegate-source',
    '--input-type=module',
    '--eval',
    script,
  ]);
  assert.equal(stderr, '');
  return stdout;
}

test('a module is the same by its relative name and by the name of the package', async () => {
  writeFileSync(join(folder, 'plugin.ts'), "export { LimiterUnavailable } from 'sluicegate/plugin-sdk';\n");
  const loader = JSON.stringify(`${src}shared/plugin-loader/resolve-contract.ts`);
  const code = `
    const { resolveContractImports } = await import(${loader});
    resolveContractImports();
    const { LimiterUnavailable } = await import(${JSON.stringify(`${src}plugin-sdk/index.ts`)});
    const plugin = await import(${JSON.stringify(join(folder, 'plugin.ts'))});
    console.log(plugin.LimiterUnavailable === LimiterUnavailable);`;
  assert.equal(await printed(code), 'true\n');
});

test('modules of users are resolved by Node: links are followed, and a missing file is named', async () => {
  writeFileSync(join(folder, 'one.ts'), 'export const one = { name: 1 };\n');
  symlinkSync(join(folder, 'one.ts'), join(folder, 'link.ts'));
  writeFileSync(
    join(folder, 'both.ts'),
    "import { one } from './one.ts';\nimport { one as same } from './link.ts';\nexport const equal = one === same;\n",
  );
  writeFileSync(join(folder, 'broken.ts'), "import './missing.ts';\n");
  const code = `
    const { equal } = await import(${JSON.stringify(join(folder, 'both.ts'))});
    const { code } = await import(${JSON.stringify(join(folder, 'broken.ts'))}).catch((error) => error);
    console.log(equal, code);`;
  assert.equal(await printed(code), 'true ERR_MODULE_NOT_FOUND\n');
});

test('so are modules of users in the folder of the package', async () => {
  const own = mkdtempSync(join(fileURLToPath(src), '..', 'plugin-'));
  after(() => rmSync(own, { recursive: true, force: true }));
  writeFileSync(join(own, 'broken.ts'), "import './missing.ts';\n");
  const code = `
    const { code, message } = await import(${JSON.stringify(join(own, 'broken.ts'))}).catch((error) => error);
    console.log(code, message);`;
  assert.match(
    await printed(code),
    /^ERR_MODULE_NOT_FOUND Cannot find module '.+missing\.ts' imported from .+broken\.ts/,
  );
});

test("zod's messages in other languages are loaded by their own name only", async () => {
  const code = `
    const { z } = await import(${JSON.stringify(import.meta.resolve('zod'))});
    const { de } = await import(${JSON.stringify(import.meta.resolve('zod/locales'))});
    console.log(Object.keys(z.locales).length, typeof de, z.string().safeParse(1).error.issues[0].message);`;
  assert.equal(await printed(code), '0 function Invalid input: expected string, received number\n');
});
