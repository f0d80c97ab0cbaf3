/** Names that nobody can register (RFC 2606, RFC 6761, RFC 8375, and what ICANN reserved). */
const reserved = /(?:^|\.)(?:localhost|test|example|invalid|local|internal|home\.arpa|example\.(?:com|net|org))$/;

/**
 * Whether a page of another site cannot have led a browser here by DNS rebinding: the host is an address, which does not resolve, or a
 * name that nobody can register. `host`: as the client sent it, with or without a port; '': none.
 */
export function isLocalHost(host: string): boolean {
  if (host === '') return true;
  const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, '') ?? '';
  if (name === '') return false;
  return name.startsWith('[') || !name.includes('.') || /^\d+\.\d+\.\d+\.\d+$/.test(name) || reserved.test(name);
}
