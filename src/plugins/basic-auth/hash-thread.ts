import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { matchesSlowly } from './check-password.ts';

/** A check for a thread of the pool, one at a time; the thread replies with true or false. */
export interface HashQuestion {
  readonly password: Uint8Array;
  readonly hash: string;
}

/** About a third of the CPU share of a thread with normal priority on a busy machine. */
const below = 5;

// On Linux each thread has its own priority: on a busy machine the threads that carry traffic come first.
if (process.platform === 'linux') lowerPriority();

parentPort?.on('message', ({ password, hash }: HashQuestion) => {
  parentPort?.postMessage(answer(password, hash));
});

function answer(password: Uint8Array, hash: string): boolean {
  try {
    return matchesSlowly(password, hash);
  } finally {
    password.fill(0);
  }
}

function lowerPriority(): void {
  try {
    setPriority(below);
  } catch {
    // Not permitted: continue with normal priority.
  }
}
