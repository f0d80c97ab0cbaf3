import { constants, timingSafeEqual, X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import { checkServerIdentity, createSecureContext, type SecureContextOptions } from 'node:tls';
import type { HybridSettings } from '../contract.ts';

export type LinkTlsSettings = Pick<HybridSettings, 'mtls' | 'cert' | 'key' | 'ca' | 'serverName'>;

/** One end's certificate, and which certificates of the other end it accepts. */
export interface LinkTls {
  /** For clients. Servers must call `problemOf` before anything else happens on a connection. */
  readonly context: SecureContextOptions & { readonly requestCert: true; readonly rejectUnauthorized: boolean };
  /**
   * Null: the certificate of the other end is accepted; else why not. `authorized`: TLS has verified it against the authorities; a
   * pinned certificate need not be, since it is compared.
   */
  problemOf(certificate: X509Certificate | undefined, authorized: boolean): string | null;
  /** Name in the server's certificate, for a connection to that host; null: any name. */
  nameFor(host: string): string | null;
}

/** Throws an `Error` of one line when a certificate or the key cannot be used. */
export function linkTls(settings: LinkTlsSettings): LinkTls {
  const own = certificatesIn(settings.cert);
  if (own.length === 0) throw new Error('the certificate of the cluster contains no certificate');
  const shared = settings.mtls === 'shared';
  const authorities = shared ? own : certificatesIn(settings.ca ?? '');
  if (authorities.length === 0) throw new Error('the authority of the cluster contains no certificate');
  const [first] = own;
  const context: LinkTls['context'] = {
    // Others in a shared file are pinned for rotation; they are no chain.
    cert: shared && first !== undefined ? first.toString() : settings.cert,
    key: settings.key,
    ca: authorities.map((authority) => authority.toString()),
    // A pinned certificate is its own anchor: its issuer need not be known.
    ...(shared ? { allowPartialTrustChain: true } : {}),
    minVersion: 'TLSv1.2',
    ecdhCurve: 'auto',
    // Each connection shows its certificate: a resumed session would keep the verdict on an old one.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET,
    requestCert: true,
    rejectUnauthorized: true,
  };
  // Wrong pairs and unreadable keys are reported here, not at the first connection.
  createSecureContext(context);
  return {
    context,
    problemOf(certificate, authorized) {
      if (certificate === undefined) return 'it has shown no certificate';
      const now = Date.now();
      if (certificate.validToDate.getTime() < now) return 'its certificate has expired';
      if (certificate.validFromDate.getTime() > now) return 'its certificate is not valid yet';
      if (!shared) return authorized ? null : 'its certificate was not signed by the authority';
      return own.some((pinned) => isSame(pinned.raw, certificate.raw)) ? null : 'its certificate is not pinned';
    },
    nameFor: (host) => (shared ? null : (settings.serverName ?? host)),
  };
}

/** The name for SNI (RFC 6066, 3: never an address); undefined: none. */
export function serverNameOf(name: string | null): string | undefined {
  return name === null || isIP(name) !== 0 ? undefined : name;
}

/** Why the certificate is not that of `name`; undefined: it is. */
export function nameProblem(name: string, certificate: X509Certificate): Error | undefined {
  return checkServerIdentity(name, certificate.toLegacyObject());
}

function certificatesIn(pem: string): readonly X509Certificate[] {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  return found.map((one) => {
    try {
      return new X509Certificate(one);
    } catch {
      throw new Error('a certificate of the cluster cannot be read');
    }
  });
}

function isSame(one: Buffer, other: Buffer): boolean {
  return one.length === other.length && timingSafeEqual(one, other);
}
