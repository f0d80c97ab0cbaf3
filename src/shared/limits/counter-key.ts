import { createHash } from 'node:crypto';
import type { WindowPeriod } from '../../plugin-sdk/limits.ts';

/** Longer keys are stored as their hash: a client chooses the value of a header, and every counter keeps its key. */
const maxKeyLength = 128;

/** The storage key for the counters of a key. Printable, and of bounded length. */
export function storedKey(namespace: string, key: string): string {
  return `${namespace}:${isPlain(key) ? key : `#${createHash('sha256').update(key).digest('base64url')}`}`;
}

/** Key of one counter in the relational store; for plugins that show or reset counters. */
export function storedCounterKey(namespace: string, period: WindowPeriod, key: string): string {
  return `${storedKey(namespace, key)}/${period}`;
}

/** A key that begins with `#` could be confused with a hash, and databases reject NUL. */
function isPlain(key: string): boolean {
  if (key.length > maxKeyLength || key.startsWith('#')) return false;
  for (let at = 0; at < key.length; at++) {
    const code = key.charCodeAt(at);
    if (code < 0x20 || code > 0x7e) return false;
  }
  return true;
}
