import type { SecureContext, TLSSocket } from 'node:tls';
import { takesEcdsa } from '../tls/takes-ecdsa.ts';
import { clientHelloOf } from './expect-client-hello.ts';
import type { ListenerOptions } from './listener.ts';

/** RFC 8737, section 4 */
export const challengeProtocol = 'acme-tls/1';

/** `challenge`: the client speaks `acme-tls/1`; then it must be given a certificate. `ecdsa`: whether it takes one with an EC key. */
export type CertificateChooser = (
  serverName: string,
  challenge: boolean,
  ecdsa: () => boolean,
  clientIp: string,
) => SecureContext | null | Promise<SecureContext | null>;

type NameOptions = Pick<ListenerOptions, 'contextFor' | 'takesChallenges' | 'policy' | 'handshakeFailed'> & {
  readonly address: Pick<ListenerOptions['address'], 'http2'>;
};

/**
 * Chooses protocol and certificate of a handshake. In TLS 1.3 OpenSSL asks for the protocol first, so that the certificate
 * can depend on it. In TLS 1.2 it is the other way round: too late for a challenge, which is refused there.
 */
export function nameCallbacks({ contextFor, takesChallenges, handshakeFailed, policy, address }: NameOptions) {
  const spoken = address.http2 ? ['h2', 'http/1.1'] : ['http/1.1'];
  const challenged = new WeakSet<TLSSocket>();
  const named = new WeakSet<TLSSocket>();
  return {
    ALPNCallback(this: TLSSocket, { protocols }: { readonly protocols: readonly string[] }): string | undefined {
      if (!protocols.includes(challengeProtocol)) return spoken.find((protocol) => protocols.includes(protocol));
      if (named.has(this) || !takesChallenges()) return undefined;
      challenged.add(this);
      return challengeProtocol;
    },
    SNICallback(this: TLSSocket, name: string, done: (error: Error | null, context?: SecureContext) => void): void {
      named.add(this);
      const give = (context: SecureContext | null): void => (context === null ? done(null) : done(null, context));
      const challenge = challenged.has(this);
      const fail = (thrown: unknown): void => {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        handshakeFailed(this.remoteAddress ?? '', `${name}: ${error.message}`, !challenge);
        done(error);
      };
      const ecdsa = (): boolean => takesEcdsa(this, clientHelloOf(this)?.ciphers ?? null, policy.ciphers);
      try {
        const context = contextFor(name, challenge, ecdsa, this.remoteAddress ?? '');
        if (context instanceof Promise) context.then(give, fail);
        else give(context);
      } catch (error) {
        fail(error);
      }
    },
  };
}
