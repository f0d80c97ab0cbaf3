import type { TrustedPeers } from '../../../shared/util/net/trusted-peers.ts';

/** Who writes. `name` stays the same and is no secret. */
export interface Actor {
  /** `token`: the setting `admin_token`. `user`: an admin user. `cli`: a command that opened the store itself. */
  readonly kind: 'token' | 'anonymous' | 'user' | 'cli';
  readonly name: string;
  /** Id of the admin user. */
  readonly user?: string;
  /** Id of the admin user's token, when one was used. */
  readonly token?: string;
}

/** Sent the token of the setting `admin_token`. */
export const tokenActor: Actor = { kind: 'token', name: 'admin-token' };
/** The Admin API requires no token. */
export const anonymousActor: Actor = { kind: 'anonymous', name: 'anonymous' };

/** A command on the machine of the store. */
export const cliActor: Actor = { kind: 'cli', name: 'cli' };

/** Who writes, and from where. */
export interface Origin {
  readonly actor: Actor;
  /** Address of the connection's other end; '' when it is gone. */
  readonly peer: string;
  /** Address of the client from a trusted peer; else the peer's. */
  readonly client: string;
  readonly requestId: string;
}

/** The first address from the end of `X-Forwarded-For` that is not a trusted peer. */
export function forwardedClient(
  peer: string,
  header: string | readonly string[] | undefined,
  trusted: TrustedPeers,
): string {
  if (header === undefined || !trusted.has(peer)) return peer;
  const addresses = (typeof header === 'string' ? header : header.join(',')).split(',');
  return trusted.clientOf(addresses, peer, true);
}
