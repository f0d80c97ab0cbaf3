import { rmSync, statSync } from 'node:fs';
import type { StoreLog } from '../sql-backend.ts';
import type { SqliteConnection } from './sqlite-database.ts';

/** Milliseconds for which a new file must be unchanged before it is opened: it may still be copied. */
const settleTime = 500;

interface NewFile {
  readonly state: string;
  readonly since: number;
}

/**
 * Detects that another file, such as a backup, replaced the open one. The open connections lead to the old
 * file, which has no name any more: writes to it are lost.
 */
export class ReplacedFile {
  readonly #path: string;
  readonly #log: StoreLog;
  #connections: readonly SqliteConnection[] = [];
  #file: string | null;
  #wal: string | null = null;
  #candidate: NewFile | null = null;

  constructor(path: string, log: StoreLog) {
    this.#path = path;
    this.#log = log;
    this.#file = identityOf(path);
  }

  /** All connections to the file. */
  watch(connections: readonly SqliteConnection[]): void {
    this.#connections = connections;
  }

  /** Whether another file has the name now. False while there is no file. */
  isReplaced(): boolean {
    const found = identityOf(this.#path);
    return found !== null && found !== this.#file;
  }

  /** Returns true when the connections lead to the file that has the name; opens a new file as soon as it is complete. */
  reopen(): boolean {
    if (!this.isReplaced()) {
      this.#candidate = null;
      this.#wal = identityOf(this.#walPath) ?? this.#wal;
      return true;
    }
    const state = stateOf(this.#path);
    if (this.#candidate?.state !== state) this.#candidate = { state, since: performance.now() };
    if (performance.now() - this.#candidate.since < settleTime) return false;
    if (this.#connections.some((connection) => connection.inTransaction)) return false;
    this.#swap();
    return true;
  }

  get #walPath(): string {
    return `${this.#path}-wal`;
  }

  #swap(): void {
    // While the old log is open no other file can have its inode. SQLite would replay it onto the new file.
    const staleWal = this.#wal !== null && identityOf(this.#walPath) === this.#wal;
    this.#connections[0]?.checkpoint();
    for (const connection of this.#connections) connection.disconnect();
    if (staleWal) for (const suffix of ['-wal', '-shm']) rmSync(`${this.#path}${suffix}`, { force: true });
    this.#file = identityOf(this.#path);
    this.#wal = null;
    this.#candidate = null;
    this.#log.warn(`the store file ${this.#path} was replaced; using the new file`);
  }
}

function identityOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? null : `${found.dev}:${found.ino}`;
}

function stateOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false, bigint: true });
  return found === undefined ? '' : `${found.ino}:${found.size}:${found.mtimeNs}`;
}
