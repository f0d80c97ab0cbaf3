import { hash } from 'node:crypto';
import type { BigIntStats } from 'node:fs';
import { type FileHandle, open, stat } from 'node:fs/promises';
import type { PluginLogger } from '../../plugin-sdk/index.ts';
import { noContent, type PasswordFileContent, parsePasswordFile } from './parse-password-file.ts';

const largestFile = 16 * 1024 * 1024;
const pollEvery = 1000;
const maxReported = 20;

/** The process or the system is out of file descriptors; the cached content is still valid. */
const passing: readonly unknown[] = ['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN', 'EINTR'];

/**
 * A file of users that is read again within a second after a change, whether it is written in place or replaced. If it
 * cannot be read, there are no users.
 */
export class PasswordFile {
  readonly #path: string;
  readonly #log: PluginLogger | null;
  readonly #timer: NodeJS.Timeout;
  #content: PasswordFileContent | null = null;
  readonly #first: Promise<PasswordFileContent>;
  /** Identity and times of the file at the last read; '' when it must be read again. */
  #signature = '';
  #digest = '';
  #problem = '';
  #polling = false;

  /** `log`: null on workers that do not report, because another one does. */
  constructor(path: string, log: PluginLogger | null) {
    this.#path = path;
    this.#log = log;
    this.#first = this.#poll().then(() => this.#content ?? noContent);
    this.#timer = setInterval(() => void this.#poll(), pollEvery);
    this.#timer.unref();
  }

  /** Synchronous, except before the first read of the file. */
  content(): PasswordFileContent | Promise<PasswordFileContent> {
    return this.#content ?? this.#first;
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    try {
      const now = signatureOf(await stat(this.#path, { bigint: true }));
      if (now !== this.#signature) await this.#read();
    } catch (error) {
      this.#failed(error);
    } finally {
      this.#polling = false;
    }
  }

  async #read(): Promise<void> {
    const file = await open(this.#path, 'r');
    try {
      const before = await file.stat({ bigint: true });
      if (!before.isFile()) throw new Error('it is not a file');
      this.#take(await readAll(file));
      // Clocks of file systems are coarse: another write within the same tick would be missed.
      const settled = BigInt(Date.now()) * 1_000_000n - before.mtimeNs > 2_000_000_000n;
      this.#signature = settled ? signatureOf(before) : '';
    } finally {
      await file.close();
    }
  }

  #take(bytes: Buffer): void {
    const digest = hash('sha256', bytes);
    if (digest === this.#digest) return;
    this.#content = parsePasswordFile(bytes);
    this.#digest = digest;
    this.#problem = '';
    this.#report(this.#content);
  }

  #report({ accounts, problems }: PasswordFileContent): void {
    const file = this.#path;
    for (const { line, problem } of problems.slice(0, maxReported)) {
      this.#log?.error(`line ${line} of the credentials file ${problem}`, { file, line });
    }
    if (problems.length > maxReported) {
      this.#log?.error(`${problems.length - maxReported} more lines of the credentials file are broken`, { file });
    }
    this.#log?.info(`the credentials file was read: ${accounts.size} users`, { file });
  }

  #failed(error: unknown): void {
    const { code, message } = error as NodeJS.ErrnoException;
    if (!passing.includes(code)) {
      this.#content = noContent;
      this.#digest = '';
    }
    this.#signature = '';
    const problem = code ?? message;
    if (problem === this.#problem) return;
    this.#problem = problem;
    const missing = code === 'ENOENT' ? 'does not exist' : 'cannot be read';
    this.#log?.error(`the credentials file ${missing}, so no user can log in`, { file: this.#path, problem });
  }
}

function signatureOf({ dev, ino, size, mtimeNs, ctimeNs }: BigIntStats): string {
  return `${dev} ${ino} ${size} ${mtimeNs} ${ctimeNs}`;
}

/** Never reads more than the limit, even if the file grows meanwhile. */
async function readAll(file: FileHandle): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let size = 0;
  for (;;) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(65_536), 0, 65_536, null);
    if (bytesRead === 0) return Buffer.concat(pieces);
    size += bytesRead;
    if (size > largestFile) throw new Error('it is larger than 16 MiB');
    pieces.push(buffer.subarray(0, bytesRead));
  }
}
