import { closeSync, openSync } from 'node:fs';
import { prefixLockOf } from '../../shared/settings/kinds/prefix.ts';
import { claimPrefix } from './pid-file.ts';

/** This process as the node of its prefix: it can give the prefix to another process, and take it again. */
export class PrefixClaim {
  readonly #prefix: string;
  #lockFile: number | null = null;
  #held: { release(removePidFile: boolean): void } | null = null;

  constructor(prefix: string) {
    this.#prefix = prefix;
  }

  get held(): boolean {
    return this.#held !== null;
  }

  /** Throws when another node has the prefix. */
  take(): void {
    this.#held ??= claimPrefix(this.#prefix);
    // Commands recognise a node that is handing over by it. It stays open: to close it would release the lock of this process.
    this.#lockFile ??= openSync(prefixLockOf(this.#prefix), 'r');
  }

  /** For the process that takes over: it writes its own pid file. */
  release(): void {
    this.#held?.release(false);
    this.#held = null;
  }

  /** After a failed hand-over. A node that took the prefix meanwhile keeps it. */
  takeAgain(): void {
    try {
      this.take();
    } catch {
      // The requests of this process are served, but no command finds it.
    }
  }

  /** The node has ended. */
  end(): void {
    this.#held?.release(true);
    this.#held = null;
    if (this.#lockFile !== null) closeSync(this.#lockFile);
    this.#lockFile = null;
  }
}
