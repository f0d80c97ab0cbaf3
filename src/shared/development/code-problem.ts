import { isAbsolute, relative, sep } from 'node:path';
import { withoutVersions } from '../plugin-loader/code/version-url.ts';
import { errorPlace, type SourcePlace, sourceExcerpt } from '../plugin-loader/error-place.ts';

/** What is wrong with a plugin's code, as `sluicegate dev` shows it. Only text and numbers, for messages between threads. */
export interface CodeProblem {
  readonly plugin: string;
  /** What failed: `the newest save cannot be loaded`, `failed in access`. */
  readonly title: string;
  readonly message: string;
  /** `handler.ts:12:9`, relative to the working directory; null: unknown. */
  readonly place: string | null;
  /** The source line and a mark below the column; null: unknown. */
  readonly excerpt: string | null;
}

/** How a plugin's code failed, before its place is known. */
export interface CodeFailure {
  readonly plugin: string;
  readonly title: string;
}

/** Characters of a message that are shown. */
const maxMessage = 4000;

/** The problem behind an error that a plugin has thrown. `root`: the working directory. Never throws. */
export function problemOf(failure: CodeFailure, error: unknown, root: string): CodeProblem {
  return problemAt(failure, messageOf(error), errorPlace(error), root);
}

/** A problem whose place is known already; `place.file` is absolute. */
export function problemAt(
  { plugin, title }: CodeFailure,
  message: string,
  place: SourcePlace | null,
  root: string,
): CodeProblem {
  const shownPlace = place === null ? null : `${shownPath(place.file, root)}:${place.line}:${place.column}`;
  const text = withoutVersions(message.slice(0, maxMessage))
    .replaceAll(`file://${root}${sep}`, '')
    .replaceAll(root + sep, '');
  return {
    plugin,
    title,
    // Some messages end with the place.
    message: shownPlace !== null && text.endsWith(` (${shownPlace})`) ? text.slice(0, -shownPlace.length - 3) : text,
    place: shownPlace,
    excerpt: place === null ? null : sourceExcerpt(place),
  };
}

/** A path as a person at the terminal would write it. */
export function shownPath(file: string, root: string): string {
  const path = relative(root, file);
  return path === '' || isAbsolute(path) ? file : path;
}

function messageOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error);
    return error.name === 'Error' ? error.message : `${error.name}: ${error.message}`;
  } catch {
    return 'a value that has no text was thrown';
  }
}
