import type { TLSSocket } from 'node:tls';

/** Cipher suites of TLS 1.2 and earlier for certificates with EC keys, by their numbers (IANA) and OpenSSL's names. */
const suites: ReadonlyMap<number, string> = new Map([
  [0xc02b, 'ECDHE-ECDSA-AES128-GCM-SHA256'],
  [0xc02c, 'ECDHE-ECDSA-AES256-GCM-SHA384'],
  [0xcca9, 'ECDHE-ECDSA-CHACHA20-POLY1305'],
  [0xc023, 'ECDHE-ECDSA-AES128-SHA256'],
  [0xc024, 'ECDHE-ECDSA-AES256-SHA384'],
  [0xc009, 'ECDHE-ECDSA-AES128-SHA'],
  [0xc00a, 'ECDHE-ECDSA-AES256-SHA'],
  [0xc0ac, 'ECDHE-ECDSA-AES128-CCM'],
  [0xc0ad, 'ECDHE-ECDSA-AES256-CCM'],
]);

/**
 * Whether a client accepts a certificate with an EC key. Call it while its handshake requests a certificate. In TLS 1.3
 * the signature algorithms decide; before, one of its ciphers must support such a key too. `offered`: those ciphers,
 * two bytes each; null: unknown. `allowed`: the policy's (OpenSSL's list); null: all.
 */
export function acceptsEcdsa(socket: TLSSocket, offered: Buffer | null, allowed: string | null): boolean {
  if (!socket.getSharedSigalgs().some((name) => name.startsWith('ECDSA'))) return false;
  if (socket.getProtocol() === 'TLSv1.3') return true;
  return offered === null || offersEcdsa(offered, allowed);
}

/** Whether a cipher for EC keys is both offered and allowed. */
export function offersEcdsa(offered: Buffer, allowed: string | null): boolean {
  const words = allowed?.split(/[:, ]+/).filter((word) => /^[A-Z]/.test(word)) ?? [];
  // A single keyword (`HIGH`) selects many ciphers, usually including these.
  const any = words.length === 0 || words.some((word) => !word.includes('-'));
  for (let at = 0; at + 1 < offered.length; at += 2) {
    const name = suites.get(offered.readUInt16BE(at));
    if (name !== undefined && (any || words.includes(name))) return true;
  }
  return false;
}
