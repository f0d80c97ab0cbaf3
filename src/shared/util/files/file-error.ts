const remedies: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full; free some space or choose another path',
  EDQUOT: 'the disk quota is exceeded; free some space or choose another path',
  EROFS: 'the file system is read-only; choose another path',
  EACCES: 'permission denied; make it writable for the user of the gateway or choose another path',
  EPERM: 'not permitted; make it writable for the user of the gateway or choose another path',
  EISDIR: 'it is a directory; remove it or choose another path',
  ENOTDIR: 'a parent of the path is a file; choose another path',
  EMFILE: 'too many open files; raise the limit (ulimit -n)',
  ENFILE: 'too many open files on this machine',
};

/** A one-line error for a file: what failed, on which file, why, and what to do. `what`: `cannot write the pid file`. */
export function fileError(what: string, path: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  const remedy = remedies[code];
  return new Error(`${what} ${path}: ${remedy === undefined ? reason : `${remedy} (${code})`}`, { cause });
}

/** Runs a function that uses a file; errors that it throws name the file. */
export function withFile<T>(what: string, path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw fileError(what, path, error);
  }
}
