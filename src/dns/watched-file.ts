import { readFile, stat } from 'node:fs/promises';
import { monotonic } from '../util/clock.ts';

/** How often it is looked whether a file has changed. */
const lookEvery = 1_000;
const mostBytes = 4 * 1024 * 1024;

/** What a file says, read again when the file has changed. A file that is not there or cannot be read says nothing. */
export class WatchedFile<T> {
  readonly #path: string;
  readonly #parse: (text: string) => T;
  #value: T;
  #version = '';
  #lookAt = 0;
  #looking: Promise<void> | null = null;

  constructor(path: string, parse: (text: string) => T) {
    this.#path = path;
    this.#parse = parse;
    this.#value = parse('');
  }

  async current(): Promise<T> {
    if (monotonic() >= this.#lookAt) {
      this.#looking ??= this.#look().finally(() => {
        this.#looking = null;
        this.#lookAt = monotonic() + lookEvery;
      });
    }
    if (this.#looking !== null) await this.#looking;
    return this.#value;
  }

  async #look(): Promise<void> {
    const version = await fileVersion(this.#path);
    if (version === this.#version) return;
    const text = version === '' ? '' : await readFile(this.#path, 'latin1').catch(() => null);
    // Between the two calls it may have gone; the next look will tell.
    if (text === null) return;
    this.#value = this.#parse(text);
    this.#version = version;
  }
}

/** Changes whenever the file does; empty when there is nothing to read. */
async function fileVersion(path: string): Promise<string> {
  try {
    const facts = await stat(path);
    if (!facts.isFile() || facts.size > mostBytes) return '';
    return `${facts.dev} ${facts.ino} ${facts.mtimeMs} ${facts.size}`;
  } catch {
    return '';
  }
}
