import type { AdminRole } from '../../../shared/entities/admin-users.ts';
import { type Actor, anonymousActor, tokenActor } from '../audit/origin.ts';

/** Who sends a request to the Admin API, and what it may do. */
export interface Caller {
  readonly actor: Actor;
  readonly role: AdminRole;
  /** Of the role `edit`: which tags it may write. */
  readonly tagPatterns: readonly string[];
  /** Id of the admin user; null: the caller is none. */
  readonly userId: string | null;
  /** Id of the token of an admin user; null: the caller has not used one. */
  readonly tokenId: string | null;
  /** A browser attaches a certificate to requests of any page, and nothing to a request without sign-in. A token proves that the page is trusted. */
  readonly provesPage: boolean;
}

const everything = { role: 'admin', tagPatterns: [], userId: null, tokenId: null } as const;

/** Sent the token of the setting `admin_token`. */
export const tokenCaller: Caller = { ...everything, actor: tokenActor, provesPage: true };
/** Of an API that only shows, and shows no secrets: the status API. */
export const visitorCaller: Caller = { ...everything, role: 'read', actor: anonymousActor, provesPage: false };
/** Nobody has to sign in. */
export const anonymousCaller: Caller = { ...everything, actor: anonymousActor, provesPage: false };

/** The same user, signed in by the same token, with the same rights. */
export function isSameCaller(one: Caller, other: Caller): boolean {
  return rightsOf(one) === rightsOf(other);
}

function rightsOf({ actor, role, tagPatterns, userId, tokenId }: Caller): string {
  return JSON.stringify([actor.kind, userId, tokenId, role, tagPatterns]);
}
