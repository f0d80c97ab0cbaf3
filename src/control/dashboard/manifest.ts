import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Encodings of a built file, best first; `identity` is the file itself. */
export const encodings = ['br', 'gzip', 'identity'] as const;
export type Encoding = (typeof encodings)[number];

/** A built file of the dashboard. */
export interface BuiltFile {
  /** Media type. */
  readonly type: string;
  /** Its name contains a hash of its content. */
  readonly immutable: boolean;
  /** Hash of the content, for `ETag`. */
  readonly hash: string;
  /** Bytes of each encoding that exists. */
  readonly sizes: Readonly<Partial<Record<Encoding, number>>>;
}

/** What dashboard/build.ts writes next to the files. */
export interface BuiltManifest {
  /** Hash of all sources from which it was built. */
  readonly sources: string;
  /** By path below the folder: `assets/index-5a3c.js`. */
  readonly files: Readonly<Record<string, BuiltFile>>;
}

export const manifestName = 'files.json';
export const indexName = 'index.html';

/** Suffixes of the names of encoded files. */
export const suffixes: Readonly<Record<Encoding, string>> = { br: '.br', gzip: '.gz', identity: '' };

/** Null: the folder has no complete build. */
export function readManifest(folder: string): BuiltManifest | null {
  try {
    const manifest = JSON.parse(readFileSync(join(folder, manifestName), 'utf8')) as BuiltManifest;
    return manifest.files[indexName] === undefined ? null : manifest;
  } catch {
    return null;
  }
}

/** How a build in progress or the last failed one is noted, next to the folder. */
export interface BuildState {
  /** Process that builds. */
  readonly pid: number;
  /** Null: it has not failed. */
  readonly error: string | null;
}

export function statePathOf(folder: string): string {
  return join(folder, '..', `${basename(folder)}.state.json`);
}

/** `missing`: nobody builds it. */
export type Progress = { readonly kind: 'missing' | 'building' } | { readonly kind: 'failed'; readonly error: string };

/** Why the folder has no files. */
export function progressOf(folder: string): Progress {
  let state: BuildState;
  try {
    state = JSON.parse(readFileSync(statePathOf(folder), 'utf8')) as BuildState;
  } catch {
    return { kind: 'missing' };
  }
  if (typeof state.error === 'string') return { kind: 'failed', error: state.error };
  return { kind: isRunning(state.pid) ? 'building' : 'missing' };
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    // It belongs to another user.
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
