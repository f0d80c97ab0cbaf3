const codes = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'];
const pattern = new RegExp(`\\b(?:${codes.join('|')})\\b`);

/** This node has run out of something (file descriptors, memory, local ports): not the backend's fault. */
export const ownFaults: ReadonlySet<string> = new Set(codes);

/** The same, for an error message. */
export function isOwnFault(cause: string): boolean {
  return pattern.test(cause);
}
