import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { root } from '../files.ts';
import { changelogHead, type ReleaseState, releaseNotes, releaseProblems } from './checks.ts';

const changelog = `# Changelog

## [1.2.0] - 2026-11-22

### Added

- A thing.

## [1.1.0] - 2026-10-01

### Fixed

- Another.
`;

const good: ReleaseState = {
  changelog,
  versions: { 'package.json': '1.2.0' },
  status: '',
  tags: ['v1.1.0'],
  repository: { type: 'git', url: 'git+https://example.com/a.git' },
};

test('finds no problem in a state that can be released', () => {
  assert.deepEqual(releaseProblems(good), []);
});

test('names each reason not to release', () => {
  const cases: readonly (readonly [Partial<ReleaseState>, RegExp])[] = [
    [{ versions: { 'package.json': '1.2.1' } }, /package\.json has version 1\.2\.1/],
    [{ status: ' M README.md\n' }, /not clean:\n M README\.md/],
    [{ tags: ['v1.2.0'] }, /the tag v1\.2\.0 exists/],
    [{ repository: undefined }, /no repository/],
    [{ changelog: changelog.replace('2026-11-22', 'unreleased') }, /has no date/],
    [{ changelog: changelog.replace('### Added', '### News') }, /'News' is none of/],
    [{ changelog: changelog.replace('### Added\n\n- A thing.\n', '') }, /has no changes/],
    [{ changelog: changelog.replace('1.2.0', '1.2'), versions: {} }, /'1\.2' is not a version/],
  ];
  for (const [change, expected] of cases) {
    const problems = releaseProblems({ ...good, ...change });
    assert.equal(problems.length, 1, problems.join('\n'));
    assert.match(problems[0] ?? '', expected);
  }
});

test('takes the notes of the newest version', () => {
  assert.equal(releaseNotes(changelog), '### Added\n\n- A thing.');
});

test("the project's own changelog has the form, and the version of the package", () => {
  const own = readFileSync(join(root, 'CHANGELOG.md'), 'utf8');
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  assert.equal(changelogHead(own).version, version);
  const problems = releaseProblems({ ...good, changelog: own.replace('unreleased', '2026-11-22'), versions: {} });
  assert.deepEqual(problems, []);
});
