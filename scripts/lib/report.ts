/** Ends a check: one line when nothing is wrong, else every problem and exit code 1. */
export function finish(success: string, problems: readonly string[]): void {
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  if (problems.length === 0) process.stdout.write(`${success}\n`);
  else process.exitCode = 1;
}
