import { readFile, stat } from 'node:fs/promises';
import { monotonic } from '../../shared/util/time/clock.ts';

/** Milliseconds between two checks whether a file has changed. */
const checkInterval = 1_000;
const maxBytes = 4 * 1024 * 1024;

/** The parsed content of a file, read again when the file has changed. A missing or unreadable file counts as empty. */
export class WatchedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  #value: T;
  #version = '';
  #nextCheck = 0;
  #checking: Promise<void> | null = null;

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path;
    this.#parse = parse;
    this.#value = parse('');
  }

  async current(): Promise<T> {
    if (monotonic() >= this.#nextCheck) {
      this.#checking ??= this.#check().finally(() => {
        this.#checking = null;
        this.#nextCheck = monotonic() + checkInterval;
      });
    }
    if (this.#checking !== null) await this.#checking;
    return this.#value;
  }

  async #check(): Promise<void> {
    const version = await fileVersion(this.#path);
    if (version === this.#version) return;
    const text = version === '' ? '' : await readFile(this.#path, 'latin1').catch(() => null);
    // It may have been removed between the two calls; the next check will show that.
    if (text === null) return;
    this.#value = this.#parse(text);
    this.#version = version;
  }
}

/** Changes whenever the file does; empty when there is nothing to read. */
async function fileVersion(path: string): Promise<string> {
  try {
    const facts = await stat(path);
    if (!facts.isFile() || facts.size > maxBytes) return '';
    return `${facts.dev} ${facts.ino} ${facts.mtimeMs} ${facts.size}`;
  } catch {
    return '';
  }
}
