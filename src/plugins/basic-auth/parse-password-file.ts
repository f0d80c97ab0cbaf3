import { isUtf8 } from 'node:buffer';
import type { Account } from './password-checks.ts';
import { parsePasswordHash } from './password-hash.ts';

export interface PasswordFileContent {
  readonly accounts: ReadonlyMap<string, Account>;
  /** The costliest hash of the file; null when none is costly. */
  readonly decoy: string | null;
  readonly problems: readonly LineProblem[];
}

export interface LineProblem {
  /** From 1. */
  readonly line: number;
  /** Shows no content of the line. */
  readonly problem: string;
}

export const noContent: PasswordFileContent = { accounts: new Map(), decoy: null, problems: [] };

/** Reads a file in the format of htpasswd: `user:hash` lines, empty ones, and comments that begin with `#`. */
export function parsePasswordFile(bytes: Buffer): PasswordFileContent {
  const accounts = new Map<string, Account>();
  const problems: LineProblem[] = [];
  let line = 0;
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const end = newline < 0 ? bytes.length : newline;
    line++;
    const problem = readLine(bytes.subarray(start, end), accounts);
    if (problem !== null) problems.push({ line, problem });
    start = end + 1;
  }
  return { accounts, decoy: costliest(accounts), problems };
}

/** The problem of the line, or null. */
function readLine(bytes: Buffer, accounts: Map<string, Account>): string | null {
  if (!isUtf8(bytes)) return 'is not UTF-8';
  const text = bytes.toString('utf8').replace(/\r$/, '');
  if (text.trim() === '' || text.startsWith('#')) return null;
  const [user = '', hash, ..._ignored] = text.split(':');
  if (hash === undefined) return 'has no colon';
  if (user === '') return 'has no user name';
  if (/[\0-\x1f\x7f]/.test(user)) return 'has a control character in the user name';
  if (accounts.has(user)) return 'names a user that an earlier line has';
  const parsed = parsePasswordHash(hash.trim());
  if (parsed === null) return 'has no hash of a known format, or one that is too costly to check';
  // Kong's own hash is salted with the consumer id, which a file does not contain.
  if (parsed.scheme === 'kong') return 'has a hash that only a credential of a consumer can have';
  accounts.set(user, { hash: parsed, consumerId: '' });
  return null;
}

function costliest(accounts: ReadonlyMap<string, Account>): string | null {
  let most: Account['hash'] | null = null;
  for (const { hash } of accounts.values()) if (hash.work >= 1 && hash.work > (most?.work ?? 0)) most = hash;
  return most?.text ?? null;
}
