// Every conformance test is in the list of attacks, every folder and rig of test/ in its index, and test support follows one convention.
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findFiles, root } from './lib/files.ts';
import { finish } from './lib/report.ts';
import { listProblems, supportProblem, unmentioned } from './lib/test-index.ts';

const list = 'test/conformance/README.md';
const index = 'test/README.md';
const cases = findFiles('test/conformance/*.ts').map((file) => basename(file));
const support = findFiles('test/support/*.ts').filter((file) => !/\.(?:test|d)\.ts$/.test(file));
const names = [
  ...findFiles('test/*/').map((folder) => `${basename(folder)}/`),
  ...findFiles('test/*.test.ts', 'test/support/plugins/*.ts').map((file) => basename(file)),
  ...support.map((file) => basename(file)),
].filter((name) => !name.endsWith('-schema.ts'));

finish(`${cases.length} conformance tests are in their list, ${names.length} folders, tests and rigs in the index`, [
  ...listProblems(read(list), cases).map((problem) => `${list}: ${problem}`),
  ...unmentioned(read(index), names).map((name) => `${index}: \`${name}\` is not mentioned`),
  ...findFiles('{src,test,scripts,examples,benchmarks}/**/*.ts')
    .map(supportProblem)
    .filter((problem) => problem !== null),
]);

function read(page: string): string {
  return readFileSync(join(root, page), 'utf8');
}
