import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { type CommandResult, runCommand } from '../testing/run-command.ts';

const root = join(import.meta.dirname, '../../..');

describe('sluicegate plugin', () => {
  const home = mkdtempSync(join(tmpdir(), 'sluicegate-plugin-'));
  after(() => rmSync(home, { recursive: true, force: true }));
  const plugin = (folder: string, ...argv: readonly string[]): Promise<CommandResult> =>
    runCommand(join(home, folder), 'plugin', ...argv);

  /** A new plugin, changed. The name of a plugin is loaded once in a process, so each test has its own. */
  async function create(name: string, edit: (text: string) => string = (text) => text): Promise<string> {
    const { code, errors } = await plugin('', 'new', name);
    assert.equal(code, 0, errors);
    const index = join(home, name, 'index.ts');
    writeFileSync(index, edit(readFileSync(index, 'utf8')));
    return join(home, name);
  }

  it('lists what it can do, and guesses', async () => {
    assert.match((await plugin('')).errors, /^Error: usage: sluicegate plugin new\|check\|test\|docs\|(?:\w+\|)*pack/);
    assert.match((await plugin('', 'chekc')).errors, /^Error: No such command: plugin chekc \(did you mean check\?\)$/);
    assert.match((await plugin('', 'constructor')).errors, /^Error: No such command: plugin constructor/);
  });

  describe('new', () => {
    it('makes a complete folder that names the plugin everywhere', async () => {
      const folder = await create('team-policy');
      const wanted = ['.gitignore', 'README.md', 'index.test.ts', 'index.ts', 'package.json', 'tsconfig.json'];
      assert.deepEqual(readdirSync(folder).sort(), wanted);
      for (const file of wanted)
        assert.doesNotMatch(readFileSync(join(folder, file), 'utf8'), /my-policy|\^0\.0\.0/, file);
      const { engines, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
      const made = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      assert.deepEqual([made.name, made.engines], ['team-policy', engines]);
      assert.deepEqual(
        [made.peerDependencies.sluicegate, made.devDependencies.sluicegate],
        [`^${version}`, `^${version}`],
      );
      const creator = JSON.parse(readFileSync(join(root, 'packages/create-sluicegate-plugin/package.json'), 'utf8'));
      assert.deepEqual([creator.version, creator.engines], [version, engines]);
    });

    for (const name of ['My-Policy', '1st', 'a--b', 'a_b', '-a', 'x'.repeat(65), '__proto__', 'sluicegate']) {
      it(`refuses the name ${name.slice(0, 12)}`, async () => {
        const { code, errors } = await plugin('', 'new', `./${name}`);
        assert.deepEqual([code, errors.split('\n').length], [1, 1]);
        assert.match(errors, /^Error: '.*' cannot be the name of a plugin/);
        assert.equal(existsSync(join(home, name)), false);
      });
    }

    it('refuses the name of a bundled plugin', async () => {
      assert.match((await plugin('', 'new', 'cors')).errors, /a plugin with the name 'cors' comes with the gateway/);
    });

    it('refuses a folder that is not empty, and leaves it unchanged', async () => {
      mkdirSync(join(home, 'full'));
      writeFileSync(join(home, 'full/notes.txt'), 'mine');
      const { code, errors } = await plugin('', 'new', 'full');
      assert.equal(code, 1);
      assert.match(errors, /^Error: the folder .*full is not empty \(notes\.txt\)$/);
      assert.deepEqual(readdirSync(join(home, 'full')), ['notes.txt']);
    });

    it('uses an empty folder, also one under Git', async () => {
      mkdirSync(join(home, 'empty/.git'), { recursive: true });
      assert.equal((await plugin('', 'new', 'empty')).code, 0);
    });
  });

  describe('check', () => {
    it('accepts a new plugin', async () => {
      await create('accepted');
      const { code, output, errors } = await plugin('accepted', 'check');
      assert.deepEqual([code, errors], [0, '']);
      assert.match(output, /^accepted 0\.1\.0: 2 fields; runs after \S+ \(\d+\) and before \S+ \(\d+\)$/m);
      assert.match(output, /^types: not checked \(TypeScript is not installed/m);
    });

    it('names file, line and column of what the gateway would refuse or the user would miss', async () => {
      const folder = await create('faulty', (text) =>
        text
          .replace("name: 'faulty'", "name: 'cors'")
          .replace('priority: 500', 'priority: 2000')
          .replace(", description: 'Clients that get a 403.'", '')
          .replace("default: 'X-Client'", "default: 'X Client'"),
      );
      rmSync(join(folder, 'index.test.ts'));
      const { code, errors } = await plugin('', 'check', 'faulty');
      assert.equal(code, 1);
      assert.deepEqual(errors.split('\n'), [
        "faulty/index.ts:4:3: error: a plugin with the name 'cors' comes with the gateway",
        'faulty/index.ts:7:3: error: priority 2000 is that of cors: which runs first is not defined (1999 is free)',
        'faulty/index.ts:11:5: error: config.refused has no description',
        "faulty/index.ts:10:5: error: the default of config.header is not valid: bad header name 'X Client', allowed characters are A-Z, a-z, 0-9, '_', and '-'",
        'faulty/README.md: warning: the table of fields is out of date: sluicegate plugin docs',
        'faulty: warning: there is no test: a file <name>.test.ts',
      ]);
    });

    it('names the place of an error in the code, and of a property that definePlugin refuses', async () => {
      await create('broken', (text) => text.replace('  setup(config) {', '  setup(config {'));
      assert.match((await plugin('broken', 'check')).errors, /^Error: '.*' cannot be loaded: .*index\.ts:\d+:\d+\)$/);
      await create('refused', (text) => text.replace("version: '0.1.0'", "version: '1'"));
      assert.match(
        (await plugin('refused', 'check')).errors,
        /plugin 'refused': version must be three numbers, as in 1\.0\.0 \(.*refused\/index\.ts:3:16\)$/,
      );
    });

    it('says that a folder has no plugin', async () => {
      mkdirSync(join(home, 'nothing'));
      assert.match((await plugin('nothing', 'check')).errors, /has no plugin: none of index\.ts/);
      assert.match((await plugin('', 'check', 'absent')).errors, /absent does not exist$/);
    });

    it('reports type errors of the compiler of the folder', async () => {
      const folder = await create('typed', (text) => text.replace("'X-Checked-By', 'typed'", "'X-Checked-By', 1"));
      useCompiler(
        folder,
        `console.log("index.ts(24,50): error TS2345: not a text.\\n  Type 'number'"); process.exit(2)`,
      );
      const { code, errors, output } = await plugin('', 'check', 'typed');
      assert.equal(code, 1);
      assert.equal(errors, 'typed/index.ts:24:50: error: TS2345: not a text.');
      assert.match(output, /^types: checked\n1 error$/m);
      assert.equal((await plugin('', 'check', 'typed', '--no-types')).code, 0);
    });
  });

  describe('docs', () => {
    it('writes the table once, and can tell whether it is current', async () => {
      const folder = await create('documented', (text) => text.replace('Clients that get a 403.', 'Nobody.'));
      const late = await plugin('documented', 'docs', '--check');
      assert.deepEqual([late.code, late.errors], [1, 'Error: README.md is out of date: run sluicegate plugin docs']);
      assert.equal((await plugin('documented', 'docs')).output, 'README.md is written');
      const readme = readFileSync(join(folder, 'README.md'), 'utf8');
      assert.match(readme, /^\| `refused` \| array of string \| `\[\]` \| Nobody\. \|$/m);
      assert.match(readme, /^# documented$/m);
      assert.equal((await plugin('documented', 'docs', '--check')).code, 0);
      assert.equal((await plugin('documented', 'docs')).output, 'README.md is up to date');
    });

    it('makes a README where there is none', async () => {
      const folder = await create('silent');
      rmSync(join(folder, 'README.md'));
      assert.equal((await plugin('silent', 'docs')).code, 0);
      assert.match(readFileSync(join(folder, 'README.md'), 'utf8'), /^# silent\n[\s\S]*\| `header` \|/);
    });
  });

  describe('pack', () => {
    /** Without declarations, as TypeScript is not installed. */
    async function packable(
      name: string,
      change: (manifest: Record<string, unknown>) => void = () => {},
    ): Promise<string> {
      const folder = await create(name);
      const path = join(folder, 'package.json');
      const manifest = JSON.parse(readFileSync(path, 'utf8'));
      manifest.exports = './dist/index.js';
      change(manifest);
      writeFileSync(path, JSON.stringify(manifest, null, 2));
      return folder;
    }

    it('compiles what the plugin reaches, and packs it', async () => {
      const folder = await packable('packed');
      writeFileSync(join(folder, 'names.ts'), 'export const known: readonly string[] = [];\n');
      const index = join(folder, 'index.ts');
      writeFileSync(index, `import { known } from './names.ts';\n${readFileSync(index, 'utf8')}\nexport { known };\n`);
      const { code, output, errors } = await plugin('', 'pack', 'packed', '-d', 'out');
      assert.deepEqual([code, errors], [0, '']);
      assert.match(output, /^compiled to dist\/: index\.ts, names\.ts$/m);
      assert.match(output, /^Publish it: npm publish out\/packed-0\.1\.0\.tgz$/m);
      const files = execFileSync('tar', ['-tzf', join(home, 'out/packed-0.1.0.tgz')], { encoding: 'utf8' });
      assert.deepEqual(files.trim().split('\n').sort(), [
        'package/README.md',
        'package/dist/index.js',
        'package/dist/names.js',
        'package/package.json',
      ]);
      assert.equal(
        readFileSync(join(folder, 'dist/names.js'), 'utf8'),
        'export const known                    = [];\n',
      );
      assert.match(readFileSync(join(folder, 'dist/index.js'), 'utf8'), /^import \{ known \} from '\.\/names\.js';$/m);
    });

    const mistakes: readonly (readonly [string, (manifest: Record<string, unknown>) => void, RegExp])[] = [
      ['no-type', (it) => delete it['type'], /package\.json: error: type must be "module"/],
      [
        'version',
        (it) => Object.assign(it, { version: '2.0.0' }),
        /package\.json:3:4: error: version is 2\.0\.0, and that of definePlugin 0\.1\.0/,
      ],
      [
        'source',
        (it) => Object.assign(it, { exports: './index.ts' }),
        /package\.json:\d+:4: error: exports names \.\/index\.ts, which is not in \.\/dist\//,
      ],
      [
        'missing',
        (it) => Object.assign(it, { exports: { '.': { default: './dist/main.js' } } }),
        /exports names \.\/dist\/main\.js, which does not exist/,
      ],
      ['no-files', (it) => delete it['files'], /error: files must name "dist"/],
      ['no-peer', (it) => delete it['peerDependencies'], /error: peerDependencies must name sluicegate/],
      [
        'second',
        (it) => Object.assign(it, { dependencies: { sluicegate: '*' } }),
        /error: dependencies must not name sluicegate/,
      ],
    ];
    for (const [name, change, message] of mistakes) {
      it(`refuses a package.json with the mistake ${name}`, async () => {
        const folder = await packable(`mistake-${name}`, change);
        const { code, errors } = await plugin('', 'pack', `mistake-${name}`);
        assert.equal(code, 1);
        assert.match(errors, message);
        assert.match(errors, /\nError: nothing is packed$/);
        assert.deepEqual(
          readdirSync(folder).filter((file) => file.endsWith('.tgz')),
          [],
        );
      });
    }

    it('refuses a module outside of the folder', async () => {
      const outside = await packable('outside');
      writeFileSync(join(home, 'shared-names.ts'), 'export const a = 1;\n');
      writeFileSync(
        join(outside, 'index.ts'),
        `${readFileSync(join(outside, 'index.ts'), 'utf8')}\nexport { a } from '../shared-names.ts';\n`,
      );
      assert.match(
        (await plugin('', 'pack', 'outside')).errors,
        /imports \.\.\/shared-names\.ts: the package has what is next to index\.ts only/,
      );
    });
  });

  /** A stand-in of TypeScript: a script. */
  function useCompiler(folder: string, script: string): void {
    const compiler = join(folder, 'node_modules/typescript');
    mkdirSync(join(compiler, 'bin'), { recursive: true });
    writeFileSync(join(compiler, 'package.json'), '{"name":"typescript","bin":{"tsc":"./bin/tsc"}}');
    writeFileSync(join(compiler, 'bin/tsc'), script);
  }
});
