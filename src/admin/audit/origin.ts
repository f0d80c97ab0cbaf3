import type { TrustedPeers } from '../../util/trusted-peers.ts';

/** Who writes. `name` stays the same and is no secret. */
export interface Actor {
  readonly kind: 'token' | 'anonymous';
  readonly name: string;
}

/** Showed the token of the setting `admin_token`. */
export const tokenActor: Actor = { kind: 'token', name: 'admin-token' };
/** The Admin API asks for no token. */
export const anonymousActor: Actor = { kind: 'anonymous', name: 'anonymous' };

/** Who writes, and from where. */
export interface Origin {
  readonly actor: Actor;
  /** Address of the connection's other end; '' when it is gone. */
  readonly peer: string;
  /** Address of the client as a trusted peer tells it; else the peer's. */
  readonly client: string;
  readonly requestId: string;
}

/** The address that `X-Forwarded-For` tells of, from its end as far as it names trusted peers. */
export function forwardedClient(
  peer: string,
  header: string | readonly string[] | undefined,
  trusted: TrustedPeers,
): string {
  if (header === undefined || !trusted.has(peer)) return peer;
  const told = (typeof header === 'string' ? header : header.join(',')).split(',');
  return trusted.clientOf(told, peer, true);
}
