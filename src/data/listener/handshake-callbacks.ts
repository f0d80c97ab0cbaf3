import type { SecureContext, TLSSocket } from 'node:tls';
import { acceptsEcdsa } from '../../shared/tls/accepts-ecdsa.ts';
import { clientHelloOf } from './expect-client-hello.ts';
import type { ListenerOptions } from './listener-options.ts';

/** RFC 8737, section 4 */
export const challengeProtocol = 'acme-tls/1';

type HandshakeOptions = Pick<
  ListenerOptions,
  'contextFor' | 'acceptsChallenges' | 'acceptsHttp2' | 'policy' | 'handshakeFailed'
> & {
  readonly address: Pick<ListenerOptions['address'], 'http2'>;
};

/**
 * Chooses the protocol and the certificate of a handshake. In TLS 1.3 OpenSSL selects the protocol first, so that the
 * certificate can depend on it. In TLS 1.2 the order is reversed: too late for a challenge, which is rejected there.
 */
export function handshakeCallbacks({
  contextFor,
  acceptsChallenges,
  acceptsHttp2,
  handshakeFailed,
  policy,
  address,
}: HandshakeOptions) {
  const challenged = new WeakSet<TLSSocket>();
  const named = new WeakSet<TLSSocket>();
  return {
    ALPNCallback(this: TLSSocket, { protocols }: { readonly protocols: readonly string[] }): string | undefined {
      if (!protocols.includes(challengeProtocol)) {
        if (address.http2 && protocols.includes('h2') && acceptsHttp2(this)) return 'h2';
        return protocols.includes('http/1.1') ? 'http/1.1' : undefined;
      }
      if (named.has(this) || !acceptsChallenges()) return undefined;
      challenged.add(this);
      return challengeProtocol;
    },
    SNICallback(this: TLSSocket, name: string, done: (error: Error | null, context?: SecureContext) => void): void {
      named.add(this);
      const succeed = (context: SecureContext | null): void => (context === null ? done(null) : done(null, context));
      const challenge = challenged.has(this);
      const fail = (thrown: unknown): void => {
        const error = thrown instanceof Error ? thrown : new Error(String(thrown));
        handshakeFailed(this.remoteAddress ?? '', `${name}: ${error.message}`, !challenge);
        done(error);
      };
      const ecdsa = (): boolean => acceptsEcdsa(this, clientHelloOf(this)?.ciphers ?? null, policy.ciphers);
      try {
        const context = contextFor(name, challenge, ecdsa, this.remoteAddress ?? '');
        if (context instanceof Promise) context.then(succeed, fail);
        else succeed(context);
      } catch (error) {
        fail(error);
      }
    },
  };
}
