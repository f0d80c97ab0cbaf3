/** What a release is checked by. All of it is read before anything is written. */
export interface ReleaseState {
  readonly changelog: string;
  /** The version that each file names. */
  readonly versions: Readonly<Record<string, string>>;
  /** Output of `git status --porcelain`. */
  readonly status: string;
  /** Tags of the repository. */
  readonly tags: readonly string[];
  /** `repository` of package.json. */
  readonly repository: unknown;
}

/** Kinds of changes of keepachangelog.com, in its order. */
const sections = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'];

/** Semantic Versioning 2.0: no leading zeros, an optional pre-release, no build metadata. */
const semver = /^(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)\.(?:0|[1-9]\d*)(?:-[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$/;

/** Why the state cannot be released, one line each. */
export function releaseProblems(state: ReleaseState): readonly string[] {
  const { version, date } = changelogHead(state.changelog);
  const different = Object.entries(state.versions).filter(([, found]) => found !== version);
  return [
    ...(semver.test(version) ? [] : [`CHANGELOG.md: '${version}' is not a version of Semantic Versioning`]),
    ...(/^\d{4}-\d{2}-\d{2}$/.test(date) ? [] : [`CHANGELOG.md: ${version} has no date (it says '${date}')`]),
    ...different.map(([file, found]) => `${file} has version ${found}, CHANGELOG.md ${version}`),
    ...changelogProblems(state.changelog),
    ...(state.status === '' ? [] : [`the working tree is not clean:\n${state.status.trimEnd()}`]),
    ...(state.tags.includes(`v${version}`) ? [`the tag v${version} exists already`] : []),
    ...(hasUrl(state.repository) ? [] : ['package.json has no repository, which npm compares with the provenance']),
  ];
}

/** The newest version of a changelog; empty texts without one. */
export function changelogHead(changelog: string): { readonly version: string; readonly date: string } {
  const [, version = '', date = ''] = /^## \[([^\]]+)\](?: - (.+))?$/m.exec(changelog) ?? [];
  return { version, date: date.trim() };
}

/** What the newest version says, for the page of the release. */
export function releaseNotes(changelog: string): string {
  const [, notes = ''] = /^## \[[^\]]+\].*\n([\s\S]*?)(?=^## \[|(?![\s\S]))/m.exec(changelog) ?? [];
  return notes.trim();
}

function changelogProblems(changelog: string): readonly string[] {
  const titles = [...changelog.matchAll(/^### (.+)$/gm)].map(([, title = '']) => title);
  const unknown = titles.filter((title) => !sections.includes(title));
  return [
    ...unknown.map((title) => `CHANGELOG.md: '${title}' is none of ${sections.join(', ')}`),
    ...(releaseNotes(changelog) === '' ? ['CHANGELOG.md: the newest version has no changes'] : []),
  ];
}

function hasUrl(repository: unknown): boolean {
  if (typeof repository === 'string') return repository !== '';
  return typeof repository === 'object' && repository !== null && 'url' in repository && repository.url !== '';
}
