import { scanLinks } from './links.ts';

/** A row of the conformance list. */
interface Row {
  readonly number: number;
  /** Paths of the tests, relative to the list. */
  readonly tests: readonly string[];
}

/**
 * What is wrong between `list`, the text of `test/conformance/README.md`, and `files`, the names of the test files next
 * to it: every file is linked in the row of its number, the rows count from 1 without a gap, and each links to a test.
 */
export function listProblems(list: string, files: readonly string[]): readonly string[] {
  const rows = rowsOf(list);
  const wrongNumbers = rows
    .filter(({ number }, at) => number !== at + 1)
    .slice(0, 1)
    .map(({ number }) => `${number} is not the number after the row before it`);
  const untested = rows.filter(({ tests }) => tests.length === 0).map(({ number }) => `${number} has no test`);
  const unlisted = files
    .filter((file) => !isListed(file, rows))
    .map((file) => `${file} is not in the row of its number`);
  return [...wrongNumbers, ...untested, ...unlisted];
}

function isListed(file: string, rows: readonly Row[]): boolean {
  const number = Number(/^(\d{2,})-/.exec(file)?.[1] ?? 0);
  return rows.some((row) => row.number === number && row.tests.includes(file));
}

function rowsOf(list: string): readonly Row[] {
  return list.split('\n').flatMap((line) => {
    const number = /^\| (\d+) \|/.exec(line)?.[1];
    if (number === undefined) return [];
    return [{ number: Number(number), tests: scanLinks(line).map(({ path }) => path) }];
  });
}

/** The names that an index, a Markdown text, does not mention in backticks. */
export function unmentioned(index: string, names: readonly string[]): readonly string[] {
  return names.filter((name) => !index.includes(`\`${name}\``));
}

/** Why a file does not follow the convention for test support of `test/README.md`; null: it does. */
export function supportProblem(path: string): string | null {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (/\.(?:fixtures|contracts|helpers?|mocks?|stubs?)\.ts$/.test(name)) {
    return `${path}: name test support <name>.fixture.ts or <name>.contract.ts`;
  }
  if (/\/(?:fixtures|helpers|mocks|__tests__)\//.test(path)) return `${path}: put shared test support into testing/`;
  return null;
}
