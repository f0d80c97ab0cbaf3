import type { Outcome, TestResult } from './run-suite.ts';

const marks: Readonly<Record<Outcome, string>> = {
  pass: 'passed',
  fail: '**failed**',
  optimal: 'does so',
  'not optimal': 'does not',
  yes: 'yes',
  no: 'no',
  setup: 'does not apply: its setup does not hold',
  dependency: 'does not apply: it depends on another test',
};

const kinds: Readonly<Record<TestResult['kind'], string>> = {
  required: 'required',
  optimal: 'optimal',
  check: 'question',
};

/** The results as a page of the documentation. */
export function resultsPage(results: readonly TestResult[], version: string): string {
  const count = (...outcomes: readonly Outcome[]): number =>
    results.filter(({ outcome }) => outcomes.includes(outcome)).length;
  const suites = [...new Set(results.map(({ suite }) => suite))];
  return `${intro(version)}
| | |
|---|---|
| required: passed | ${count('pass')} |
| required: failed | ${count('fail')} |
| what a cache may do: does, does not | ${count('optimal')}, ${count('not optimal')} |
| questions: yes, no | ${count('yes')}, ${count('no')} |
| does not apply | ${count('setup', 'dependency')} |
${suites.map((suite) => section(suite, results)).join('')}`;
}

function intro(version: string): string {
  return `# The public suite for HTTP caches

Results of [\`proxy-cache\`](../src/plugins/proxy-cache) in the suite
[http-cache-tests](https://cache-tests.fyi) ${version}, written by
\`node test/http-cache-suite/write-results.ts\`. The cache applies \`Cache-Control\` and stores all
types and statuses.

Tests are of three kinds: what the specification requires; what a cache may do to be better
("optimal"); and questions, where neither answer is wrong.

The cache does not do these things on purpose:

- It never guesses how long an answer is fresh (heuristics).
- It stores no parts (206), and no answers with \`Set-Cookie\` unless configured.
- It does not cache \`POST\` by address alone.
- It treats what it cannot parse as stale.
- If a conditional request finds nothing, it requests the whole answer from the backend.
`;
}

function section(suite: string, results: readonly TestResult[]): string {
  const rows = results
    .filter((result) => result.suite === suite)
    .map(({ id, name, kind, outcome }) => `| ${cell(name)} | ${marks[outcome]} | ${kinds[kind]} | \`${id}\` |`);
  return `\n## ${suite}\n\n| | | kind | id |\n|---|---|---|---|\n${rows.join('\n')}\n`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('**', '');
}
