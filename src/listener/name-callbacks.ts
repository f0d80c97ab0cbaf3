import type { SecureContext, TLSSocket } from 'node:tls';
import type { ListenerOptions } from './listener.ts';

/** RFC 8737, section 4 */
export const challengeProtocol = 'acme-tls/1';

type NameOptions = Pick<ListenerOptions, 'contextFor' | 'takesChallenges'> & {
  readonly address: Pick<ListenerOptions['address'], 'http2'>;
};

/**
 * Chooses protocol and certificate of a handshake. In TLS 1.3 OpenSSL asks for the protocol first, so that the certificate
 * can depend on it. In TLS 1.2 it is the other way round: too late for a challenge, which is refused there.
 */
export function nameCallbacks({ contextFor, takesChallenges, address }: NameOptions) {
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
      const fail = (error: unknown): void => done(error instanceof Error ? error : new Error(String(error)));
      try {
        const context = contextFor(name, challenged.has(this));
        if (context instanceof Promise) context.then(give, fail);
        else give(context);
      } catch (error) {
        fail(error);
      }
    },
  };
}
