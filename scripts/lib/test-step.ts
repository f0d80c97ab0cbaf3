import { availableParallelism } from 'node:os';
import { findFiles } from './files.ts';
import { type Step, script } from './steps.ts';

/** Milliseconds for a test, and for all tests of a suite together: on a busy machine a suite of a minute takes three. */
const timeout = 300_000;

/** Tests of one part, next to the code; they need only Node. */
export function unitTests(): Step {
  const files = findFiles(
    'src/**/*.test.ts',
    'scripts/**/*.test.ts',
    'examples/**/*.test.ts',
    'benchmarks/**/*.test.ts',
    'bin/*.test.ts',
    'dashboard/src/**/*.test.ts',
  );
  return testStep(
    'unit tests',
    files.filter((file) => !file.endsWith('.integration.test.ts')),
    Math.max(2, availableParallelism()),
    '--grouped',
  );
}

/** The files that take longest, so that no processor waits for one of them at the end. */
export const longFiles = [
  'test/deploy/pages.integration.test.ts',
  'test/store/change-feed.integration.test.ts',
  'test/store/kill.integration.test.ts',
];

/** Tests of several parts together, with real sockets, processes and services. Those in a browser compute most: rarely two at a time do. */
export function integrationTests(): Step {
  const files = findFiles(
    'src/**/*.integration.test.ts',
    'dashboard/src/**/*.integration.test.ts',
    'test/**/*.test.ts',
  ).filter((file) => !longFiles.includes(file));
  const inBrowser = files.filter((file) => file.startsWith('test/dashboard/'));
  const others = files.filter((file) => !inBrowser.includes(file));
  return testStep('integration and conformance', [...longFiles, ...spread(inBrowser, others)], 2);
}

/** Both lists in their order, each at even distances. */
export function spread(few: readonly string[], many: readonly string[]): readonly string[] {
  const placed = [few, many].flatMap((files) =>
    files.map((file, index) => ({ file, place: (index + 0.5) / files.length })),
  );
  return placed.toSorted((one, other) => one.place - other.place).map(({ file }) => file);
}

function testStep(name: string, files: readonly string[], concurrency: number, ...options: readonly string[]): Step {
  const rest = [...options, `${concurrency}`, `${timeout}`, ...files];
  const { command, argv } = script(name, 'scripts/lib/run-test-files.ts', ...rest);
  return {
    name: `${name} (${files.length} files)`,
    command,
    argv,
    // What the runner does not end by itself: a file whose hooks or sockets never come to an end.
    silence: timeout + 60_000,
    inspect: skippedInCi,
    // CI makes its report of the runner's own lines.
    summary: process.env['CI'] === 'true' ? runnerSummary : testSummary,
  };
}

/** A skip on a person's machine says what is missing; on CI everything is there, so a skip is a fault. */
export function skippedInCi(output: string): string | null {
  const skipped = countOf(output, 'skipped');
  return process.env['CI'] === 'true' && skipped > 0 ? `${skipped} tests were skipped` : null;
}

export function testSummary(output: string): string {
  const skipped = [...output.matchAll(/^\s*﹣ (.*?) \([\d.]+ms\)(.*)$/gm)].map(
    ([, name, why]) => `\n      skipped: ${name}${why}`,
  );
  return `${countOf(output, 'pass')} passed, ${countOf(output, 'skipped')} skipped${skipped.join('')}`;
}

function runnerSummary(output: string): string {
  return [testSummary(output), ...[...output.matchAll(/^ℹ .*$/gm)].map(([line]) => line)].join('\n');
}

function countOf(output: string, name: string): number {
  return Number(new RegExp(`^ℹ ${name} (\\d+)$`, 'm').exec(output)?.[1] ?? 0);
}
