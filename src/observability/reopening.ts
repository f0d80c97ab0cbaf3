const files = new Set<() => void>();

/** Registers what is to be done in this thread when somebody has rotated files. Returns how to take it back. */
export function onReopen(reopen: () => void): () => void {
  files.add(reopen);
  return () => void files.delete(reopen);
}

/** The operator has rotated files (`sluicegate reload`, SIGHUP): what writes to files in this thread opens them anew. */
export function reopenFiles(): void {
  for (const reopen of [...files]) reopen();
}
