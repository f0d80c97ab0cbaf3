import { constants } from 'node:crypto';
import type { TlsOptions } from 'node:tls';
import type { ServerPolicy } from '../settings/kinds/tls-policy.ts';

/** The policy as options of Node's TLS servers. */
export function policyOptions(policy: ServerPolicy): TlsOptions {
  const { minVersion, maxVersion, ciphers, preferServerCiphers, sessionTickets, sessionTimeout } = policy;
  return {
    minVersion,
    maxVersion,
    // The same list names the ciphers of TLS 1.3.
    ...(ciphers === null ? {} : { ciphers: `${tls13}:${ciphers}` }),
    honorCipherOrder: preferServerCiphers,
    dhparam: 'auto',
    sessionTimeout: Math.max(1, Math.round(sessionTimeout / 1000)),
    secureOptions: secureOptions(sessionTickets),
  };
}

/**
 * Disables renegotiation (RFC 9325, 3.4): it lets a client cause unlimited work, and changes the identity of the peer
 * during a request.
 */
export function secureOptions(tickets: boolean): number {
  return constants.SSL_OP_NO_RENEGOTIATION | (tickets ? 0 : constants.SSL_OP_NO_TICKET);
}

const tls13 = 'TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256';
