// Refuses phrases that are not plain English, in pages and in the source, and commit subjects that are too long.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { findFiles, root } from './lib/files.ts';
import { finish } from './lib/report.ts';
import { bannedPhrases, subjectProblem } from './lib/words.ts';

/** The last commit before subjects were checked. */
const firstUnchecked = '22c28ac';
/** The list itself, its test, and the glossary that names what not to write. */
const exceptions = new Set(['scripts/lib/words.ts', 'scripts/lib/words.test.ts', 'AGENTS.md', 'CONTRIBUTING.md']);

const files = findFiles(
  '*.md',
  'docs/**/*.md',
  '{src,scripts,test,benchmarks,examples,dashboard/src,dashboard/test}/**/*.{ts,tsx,md}',
).filter((file) => !exceptions.has(file) && !file.includes('node_modules/'));
const phrases = files.flatMap((file) => bannedPhrases(file, readFileSync(join(root, file), 'utf8')));
const subjects = checkedSubjects();
finish(`${files.length} files and ${subjects.length} commit subjects are in plain English`, [
  ...phrases,
  ...subjects.flatMap((subject) => {
    const problem = subjectProblem(subject);
    return problem === null ? [] : [`commit "${subject}": ${problem}`];
  }),
]);

/** Empty where there is no history, as in an archive of the sources or a shallow clone. */
function checkedSubjects(): readonly string[] {
  try {
    const range = `${firstUnchecked}..HEAD`;
    const log = execFileSync('git', ['log', '--no-merges', '--format=%s', range], {
      cwd: root,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return log.split('\n').filter(Boolean);
  } catch {
    return [];
  }
}
