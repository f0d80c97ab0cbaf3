import { setPriority } from 'node:os';
import { parentPort } from 'node:worker_threads';
import { matchesSlowly } from './check-password.ts';

/** What a thread of the pool is asked, one question at a time; it answers with true or false. */
export interface HashQuestion {
  readonly password: Uint8Array;
  readonly hash: string;
}

/** A third of the share that a thread of normal priority gets of a full machine. */
const below = 5;

// On Linux a priority is a thread's own: on a full machine the threads that carry the traffic come first.
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
    // The process may not; then it goes without.
  }
}
