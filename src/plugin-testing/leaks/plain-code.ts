import { setFlagsFromString } from 'node:v8';

/** What compiles code again while it runs, or throws code away: each time the heap changes by many kilobytes. */
const flags = ['opt', 'maglev', 'sparkplug', 'flush-bytecode'];

/**
 * Runs the work without compilers that optimize, so that what changes in the heap is data. The time that it takes is about three times as long.
 */
export async function withPlainCode<T>(work: () => Promise<T>): Promise<T> {
  const given = `${process.execArgv.join(' ')} ${process.env['NODE_OPTIONS'] ?? ''}`;
  // What is off already stays off.
  const changed = flags.filter((flag) => !given.includes(`--no-${flag}`));
  for (const flag of changed) setFlagsFromString(`--no-${flag}`);
  try {
    return await work();
  } finally {
    for (const flag of changed) setFlagsFromString(`--${flag}`);
  }
}
