import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { promisify } from 'node:util';
import { installedPackages } from '../../scripts/lib/release/artifacts.ts';
import { shell } from '../package/installed-package.ts';
import { copySource } from '../package/source-copy.ts';

const run = promisify(execFile);

interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/* The script runs in a copy of the working tree with a commit of its own. */
describe('the release script', () => {
  let copy = '';
  before(async () => {
    copy = await mkdtemp(join(tmpdir(), 'sluicegate-release-'));
    copySource(copy);
    const manifest = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'));
    manifest.repository ??= { type: 'git', url: 'git+https://git.example/sluicegate.git' };
    await writeFile(join(copy, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    const changelog = await readFile(join(copy, 'CHANGELOG.md'), 'utf8');
    await writeFile(join(copy, 'CHANGELOG.md'), changelog.replace('unreleased', '2026-11-22'));
    await commit('all');
  });
  after(() => rm(copy, { recursive: true, force: true }));

  async function commit(message: string): Promise<void> {
    const git = (...argv: readonly string[]): Promise<unknown> =>
      run(
        'git',
        ['-c', 'user.name=Test', '-c', 'user.email=test@localhost', '-c', 'core.hooksPath=/dev/null', ...argv],
        { cwd: copy },
      );
    if (!existsSync(join(copy, '.git'))) await git('init', '--quiet');
    await git('add', '--all');
    await git('commit', '--quiet', '--message', message);
  }

  async function release(...argv: readonly string[]): Promise<Ran> {
    const script = [
      '--disable-warning=ExperimentalWarning',
      '--conditions=sluicegate-source',
      join(copy, 'scripts/release.ts'),
    ];
    return run(process.execPath, [...script, ...argv], { cwd: copy, env: shell, timeout: 250_000 }).then(
      (ran) => ({ code: 0, ...ran }),
      (error: Ran) => error,
    );
  }

  it('packs, lists what is inside, and prints how to publish with provenance', async () => {
    const { code, stdout, stderr } = await release('--dry-run', '--out', 'release');
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, /would refuse/);
    const { version, dependencies } = JSON.parse(readFileSync(join(copy, 'package.json'), 'utf8'));
    const folder = join(copy, 'release');
    execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: folder, stdio: 'pipe' });
    const sbom = JSON.parse(readFileSync(join(folder, `sluicegate-${version}.cdx.json`), 'utf8'));
    assert.deepEqual([sbom.bomFormat, sbom.specVersion], ['CycloneDX', '1.5']);
    assert.deepEqual([sbom.metadata.component.name, sbom.metadata.component.version], ['sluicegate', version]);
    const names: readonly string[] = sbom.components.map((component: { readonly name: string }) => component.name);
    for (const name of Object.keys(dependencies)) assert.ok(names.includes(name), name);
    for (const name of ['typescript', '@biomejs/biome']) assert.ok(!names.includes(name), name);
    const refs: readonly string[] = sbom.components.map(
      (component: { readonly 'bom-ref': string }) => component['bom-ref'],
    );
    assert.deepEqual([...refs].sort(), [...installedPackages(copy)].sort());
    const direct = sbom.dependencies.find(({ ref }: { readonly ref: string }) => ref === `sluicegate@${version}`);
    assert.equal(direct.dependsOn.length, Object.keys(dependencies).length);
    for (const { name, hashes, licenses } of sbom.components) {
      assert.equal(hashes?.[0]?.alg, 'SHA-512', name);
      assert.notEqual(licenses?.length ?? 0, 0, `${name} has no licence`);
    }
    const files = execFileSync('tar', ['-tzf', join(folder, `sluicegate-${version}.tgz`)], { encoding: 'utf8' });
    assert.match(files, /^package\/dist\/main\.js$/m);
    assert.match(readFileSync(join(folder, 'NOTES.md'), 'utf8'), /^### Added/m);
    assert.match(stdout, /npm publish \S+\.tgz --provenance --access public/);
    assert.match(stdout, new RegExp(`git tag -s v${version.replaceAll('.', '\\.')}`));
  });

  it('refuses a working tree that is not clean, before it runs or writes anything', async () => {
    await writeFile(join(copy, 'forgotten.txt'), '');
    const { code, stdout } = await release('--out', 'refused');
    assert.equal(code, 1);
    assert.match(stdout, /^refused: the working tree is not clean:\n\?\? forgotten\.txt$/m);
    assert.equal(existsSync(join(copy, 'refused')), false);
    await rm(join(copy, 'forgotten.txt'));
  });

  it('refuses a version that differs from the changelog', async () => {
    const changelog = await readFile(join(copy, 'CHANGELOG.md'), 'utf8');
    await writeFile(join(copy, 'CHANGELOG.md'), changelog.replace(/^## \[[^\]]+\]/m, '## [9.9.9]'));
    await commit('another version');
    const { code, stdout } = await release();
    assert.equal(code, 1);
    for (const file of ['package.json', 'src/version.ts', 'Chart.yaml (version)'])
      assert.ok(stdout.includes(file), stdout);
  });
});
