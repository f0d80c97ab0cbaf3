const codes = ['EMFILE', 'ENFILE', 'ENOBUFS', 'ENOMEM', 'EADDRNOTAVAIL'];
const pattern = new RegExp(`\\b(?:${codes.join('|')})\\b`);

/** This node has run out of a local resource (file descriptors, memory, local ports): not the backend's fault. */
export const localResourceErrors: ReadonlySet<string> = new Set(codes);

/** The same, for an error message. */
export function isLocalResourceError(cause: string): boolean {
  return pattern.test(cause);
}
