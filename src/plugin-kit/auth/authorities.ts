import { readFileSync } from 'node:fs';
import { createSecureContext, type SecureContext } from 'node:tls';

/** The result of the last read: senders of one worker nearly always trust the same file. */
let last: { readonly pem: Buffer; context: SecureContext | null } | null = null;

/**
 * Reads a file of authorities (PEM) to trust; throws when it cannot be read. What comes back makes the context for connections, which of a
 * system's authorities takes some 40 ms of the thread: once, for all users of the same file.
 */
export function trustedAuthorities(file: string): () => SecureContext {
  const pem = readFileSync(file);
  const shared = last?.pem.equals(pem) === true ? last : { pem, context: null };
  last = shared;
  return () => {
    shared.context ??= createSecureContext({ ca: shared.pem });
    return shared.context;
  };
}
