import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { globSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { packPackage, typeErrors, writeJson } from './installed-package.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '../..');

/** A program that uses Node, as every one that tests a plugin does. */
const empty = `import assert from 'node:assert/strict';\nassert.ok(Buffer.from('').length === 0);\n`;

/** Every subpath, and a plugin whose configuration is typed without a type argument. */
const program = (subpaths: readonly string[]): string => `
import assert from 'node:assert/strict';
${subpaths.map((subpath, at) => `import * as part${at} from '${subpath}';`).join('\n')}
import { definePlugin, refuse } from 'sluicegate/plugin-sdk';
import { testPlugin } from 'sluicegate/plugin-testing';

export const parts = [${subpaths.map((_subpath, at) => `part${at}`).join(', ')}];

const plugin = definePlugin({
  name: 'typed',
  config: ({ array, integer, record, string }) => ({
    mode: string({ one_of: ['soft', 'hard'], required: true, default: 'soft', description: 'How.' }),
    sizes: array(integer(), { description: 'Sizes.' }),
    server: record({ host: string({ required: true, default: 'localhost', description: 'Host.' }) }),
  }),
  needs: (config) => ({ requestBody: { maxBytes: config.sizes?.[0] ?? 1 } }),
  setup(config, tools) {
    const mode: 'soft' | 'hard' = config.mode;
    const host: string = config.server.host;
    // @ts-expect-error It may be null.
    config.sizes.length;
    // @ts-expect-error There is no such field.
    config.size;
    return {
      async access(context) {
        if (mode === 'hard') return refuse(403, host);
        context.upstream.setHeader('X-Mode', mode);
        // @ts-expect-error A header is a text.
        context.upstream.setHeader('X-Number', 1);
      },
      headerFilter({ response, ...context }) {
        response.setHeader('X-Host', host);
        // @ts-expect-error There is no way to the backend any more.
        context.upstream;
      },
      log: () => tools.log.info('done'),
    };
  },
});

export async function use(): Promise<void> {
  const { upstream } = await testPlugin(plugin, { config: { mode: 'soft' } }).request({ path: '/' });
  assert.equal(upstream?.header('x-mode'), 'soft');
}
`;

const strict = {
  target: 'es2024',
  lib: ['es2024'],
  types: ['node'],
  strict: true,
  skipLibCheck: false,
  noUncheckedIndexedAccess: true,
  exactOptionalPropertyTypes: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  noEmit: true,
};

const resolutions = [{ module: 'nodenext' }, { module: 'esnext', moduleResolution: 'bundler' }] as const;

describe('the declarations of the package', { timeout: 300_000 }, () => {
  let home = '';
  let subpaths: readonly string[] = [];

  before(async () => {
    home = await mkdtemp(join(tmpdir(), 'sluicegate-types-'));
    const installed = join(home, 'node_modules/sluicegate');
    await mkdir(installed, { recursive: true });
    await run('tar', ['-xzf', (await packPackage()).path, '--strip-components=1', '-C', installed]);
    // What npm installs with it, as far as declarations need it.
    for (const name of ['@types', 'undici-types'])
      await symlink(join(root, 'node_modules', name), join(home, 'node_modules', name));
    const { exports } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8')) as {
      readonly exports: Readonly<Record<string, unknown>>;
    };
    subpaths = Object.keys(exports).map((subpath) => `sluicegate${subpath.slice(1)}`);
    await project('empty', empty, resolutions[0]);
  });
  after(() => rm(home, { recursive: true, force: true }));

  async function project(name: string, text: string, options: object): Promise<string> {
    const folder = join(home, name);
    await mkdir(folder, { recursive: true });
    await writeJson(join(folder, 'package.json'), { type: 'module' });
    await writeJson(join(folder, 'tsconfig.json'), { compilerOptions: { ...strict, ...options }, include: ['.'] });
    await writeFile(join(folder, 'index.ts'), text);
    return folder;
  }

  for (const options of resolutions) {
    const name = Object.values(options).join('-');
    it(`are accepted by a strict compiler, each subpath of them (${name})`, async () => {
      assert.ok(subpaths.includes('sluicegate/plugin-kit/xml'), subpaths.join());
      assert.equal(await typeErrors(await project(name, program(subpaths), options)), '');
    });
  }

  it('need no packages except the types of Node', async () => {
    const dist = join(home, 'node_modules/sluicegate/dist');
    const named = new Set<string>();
    for (const file of globSync('**/*.d.ts', { cwd: dist })) {
      const text = (await readFile(join(dist, file), 'utf8')).replaceAll(/^ *\*.*$/gm, '');
      for (const [, specifier = ''] of text.matchAll(/(?:from|import\(|types=)\s*['"]([@a-z][^'"]*)['"]/g))
        if (!specifier.startsWith('node:')) named.add(specifier);
    }
    assert.deepEqual([...named], ['node']);
  });

  it('take at most a second more to check than a program without them', async () => {
    const without = await leastCpuTime(join(home, 'empty'));
    const withThem = await leastCpuTime(join(home, resolutions[0].module));
    // On a slow machine a second is less: there, at most as much again.
    const bound = Math.max(1000, without);
    assert.ok(withThem - without < bound, `${withThem} ms with them, ${without} ms without`);
  });
});

/** Processor time of the compiler in milliseconds, on all its threads: the least of three runs. */
async function leastCpuTime(folder: string): Promise<number> {
  const times: number[] = [];
  for (let tries = 0; tries < 3; tries++) {
    const compiler = join(root, 'node_modules/.bin/tsc');
    const { stdout } = await run('sh', ['-c', `'${compiler}' --project '${folder}' && times`], { timeout: 120_000 });
    // The second line is about the children of the shell: those in their own code, then those in the system.
    const [, minutes = '', seconds = ''] = /^(\d+)m([\d.]+)s \S+$/.exec(stdout.trim().split('\n').at(-1) ?? '') ?? [];
    times.push(Number(minutes) * 60_000 + Number(seconds) * 1000);
  }
  return Math.min(...times);
}
