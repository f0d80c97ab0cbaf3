const files = new Set<() => void>();

/** Registers what this thread does when files were rotated. Returns a function that removes it. */
export function onReopen(reopen: () => void): () => void {
  files.add(reopen);
  return () => void files.delete(reopen);
}

/**
 * The operator has rotated files (`sluicegate reload`, SIGHUP): everything that writes to files in this thread reopens
 * them.
 */
export function reopenFiles(): void {
  for (const reopen of [...files]) reopen();
}
