import type { ChildProcess } from 'node:child_process';

export interface ProcessOutput {
  /** Everything written so far. */
  readonly output: () => string;
  /** Resolves when the output contains the text; rejects when the process ends first. */
  readonly printed: (text: string | RegExp) => Promise<void>;
}

/** Collects what a process with piped output writes. */
export function collectOutput(child: ChildProcess): ProcessOutput {
  let output = '';
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      for (const check of waiting) check();
    });
  }
  return {
    output: () => output,
    printed: (text) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          if (typeof text === 'string' ? !output.includes(text) : !text.test(output)) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
        child.once('close', () => reject(new Error(`ended without printing ${text}: ${output}`)));
        check();
      }),
  };
}
