// Makes a release: checks the state, runs all tests, packs, writes SBOM and checksums, and prints how to publish them.
// It publishes nothing itself. --dry-run reports the problems, runs no tests, and does the rest; --out names the folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { parse } from 'yaml';
import { version as ownVersion } from '../src/version.ts';
import { chartFolder } from './lib/deploy/chart.ts';
import { root } from './lib/files.ts';
import { gate } from './lib/gate.ts';
import { packTarball, writeChecksums, writeSbom } from './lib/release/artifacts.ts';
import { changelogHead, releaseNotes, releaseProblems } from './lib/release/checks.ts';
import { print } from './lib/steps.ts';

const { values: options } = parseArgs({
  options: { 'dry-run': { type: 'boolean', default: false }, out: { type: 'string', default: 'release' } },
});
/** The package behind `npm create sluicegate-plugin`; it has no dependencies and no build. */
const creatorFolder = 'packages/create-sluicegate-plugin';
const dryRun = options['dry-run'];
const changelog = read('CHANGELOG.md');
const manifest = JSON.parse(read('package.json'));
const { version } = changelogHead(changelog);

process.exitCode = await release();

async function release(): Promise<number> {
  const problems = releaseProblems({
    changelog,
    versions: versions(),
    status: git('status', '--porcelain'),
    tags: git('tag').split('\n'),
    repository: manifest.repository,
  });
  for (const problem of problems) print(`${dryRun ? 'would refuse' : 'refused'}: ${problem}`);
  if (problems.length > 0 && !dryRun) return 1;
  if (dryRun) print('dry run: no tests');
  else if (!(await gate())) return 1;
  const folder = resolve(root, options.out);
  mkdirSync(folder, { recursive: true });
  const tarball = packTarball(folder);
  const sbom = writeSbom(folder, manifest.name, manifest.version);
  const notes = join(folder, 'NOTES.md');
  writeFileSync(notes, `${releaseNotes(changelog)}\n`);
  const sums = writeChecksums(folder, [tarball, sbom, notes]);
  print(`\nwritten to ${folder}: ${[tarball, sbom, notes, sums].map((file) => basename(file)).join(', ')}`);
  print(`\n${publishCommands(tarball).join('\n')}`);
  return 0;
}

/** Every version of the files that name one. */
function versions(): Readonly<Record<string, string>> {
  const chart = parse(read(`${chartFolder}/Chart.yaml`)) as { readonly version: string; readonly appVersion: string };
  return {
    'package.json': manifest.version,
    'package-lock.json': JSON.parse(read('package-lock.json')).version,
    'src/version.ts': ownVersion,
    [`${creatorFolder}/package.json`]: JSON.parse(read(`${creatorFolder}/package.json`)).version,
    [`${chartFolder}/Chart.yaml (version)`]: chart.version,
    [`${chartFolder}/Chart.yaml (appVersion)`]: chart.appVersion,
  };
}

/** Provenance names the commit and the build: only a CI with OpenID Connect can sign it. */
function publishCommands(tarball: string): readonly string[] {
  const tag = `v${version}`;
  return [
    'Publish, in a CI job that may request an id token:',
    `  git tag -s ${tag} -m ${tag} && git push origin ${tag}`,
    `  npm publish ${tarball} --provenance --access public`,
    `  npm publish ./${creatorFolder} --provenance --access public`,
    '  docker buildx build --platform linux/amd64,linux/arm64 --provenance=mode=max --sbom=true \\',
    `    -f deploy/docker/Dockerfile -t "$REGISTRY/sluicegate:${version}" --push .`,
    `  helm package ${chartFolder} && helm push sluicegate-${version}.tgz "oci://$REGISTRY/charts"`,
  ];
}

function git(...argv: readonly string[]): string {
  return execFileSync('git', argv, { cwd: root, encoding: 'utf8' });
}

function read(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}
