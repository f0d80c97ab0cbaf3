import { hash } from 'node:crypto';
import { equalSecrets } from '../../plugin-kit/auth/index.ts';
import { type Refusal, refusals } from './responses.ts';
import type { OAuth2Config } from './schema.ts';

/* Proof Key for Code Exchange (RFC 7636): only the client that requested the code can use it. */

export interface Challenge {
  readonly challenge: string | null;
  readonly challenge_method: 'S256' | 'plain' | null;
}

/** 43 to 128 unreserved characters (RFC 7636 4.1). */
const verifierShape = /^[A-Za-z0-9._~-]{43,128}$/;
const s256Shape = /^[A-Za-z0-9_-]{43}$/;

/** The challenge of an authorization request, or the refusal of the request. */
export function readChallenge(
  pkce: OAuth2Config['pkce'],
  isPublic: boolean,
  challenge: string | null,
  method: string | null,
): Challenge | Refusal {
  if (challenge === null) {
    if (method !== null) return refusals.challenge;
    return isRequired(pkce, isPublic) ? missing(isPublic) : { challenge: null, challenge_method: null };
  }
  const used = method ?? 'plain';
  if (used !== 'S256' && (used !== 'plain' || pkce === 'strict')) return refusals.challengeMethod;
  if (!(used === 'S256' ? s256Shape : verifierShape).test(challenge)) return refusals.challenge;
  return { challenge, challenge_method: used };
}

/** The refusal if the verifier does not match; null: it matches. */
export function verifierProblem(
  pkce: OAuth2Config['pkce'],
  isPublic: boolean,
  { challenge, challenge_method: method }: Challenge,
  verifier: string | null,
): Refusal | null {
  if (challenge === null) {
    // A verifier without a challenge: an attacker removed the challenge from the authorization request (RFC 9700 4.8.2).
    if (verifier !== null) return refusals.verifier;
    return isRequired(pkce, isPublic) ? refusals.noVerifier : null;
  }
  if (verifier === null) return refusals.noVerifier;
  if (!verifierShape.test(verifier)) return refusals.verifier;
  const computed = method === 'plain' ? verifier : hash('sha256', verifier, 'base64url');
  return equalSecrets(computed, challenge) ? null : refusals.verifier;
}

function isRequired(pkce: OAuth2Config['pkce'], isPublic: boolean): boolean {
  return pkce === 'strict' || (pkce !== 'none' && isPublic);
}

function missing(isPublic: boolean): Refusal {
  const kind = isPublic ? 'public' : 'confidential';
  return { error: 'invalid_request', error_description: `code_challenge is required for ${kind} clients` };
}
