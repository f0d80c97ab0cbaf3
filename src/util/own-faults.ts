const codes = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'];
const pattern = new RegExp(`\\b(?:${codes.join('|')})\\b`);

/** This node has run out of something (file descriptors, memory, local ports): it says nothing about a backend. */
export const ownFaults: ReadonlySet<string> = new Set(codes);

/** The same, of the message of an error. */
export function isOwnFault(cause: string): boolean {
  return pattern.test(cause);
}
