import { bearerChallenge } from '../../plugin-kit/auth/index.ts';
import { type Reply, refuse } from '../../plugin-sdk/index.ts';
import type { OpenIdConfig } from './schema.ts';

export interface Refusals {
  readonly missing: Reply;
  readonly invalid: Reply;
  readonly scope: Reply;
  readonly forbidden: Reply;
  readonly login: Reply;
  readonly unavailable: Reply;
}

/** RFC 6750, 3.1. Refusals do not reveal which part of a token was invalid. */
export function refusalsOf({ realm, scopes_required: scopes }: OpenIdConfig): Refusals {
  const challenge = (parameters: Readonly<Record<string, string>>) => ({
    'WWW-Authenticate': bearerChallenge({ realm, ...parameters }),
  });
  return {
    missing: refuse(401, 'Unauthorized', challenge({})),
    invalid: refuse(401, 'Unauthorized', challenge({ error: 'invalid_token' })),
    scope: refuse(403, 'Forbidden', challenge({ error: 'insufficient_scope', scope: scopes?.[0] ?? '' })),
    forbidden: refuse(403, 'Forbidden'),
    login: refuse(401, 'Unauthorized', { ...challenge({}), 'Cache-Control': 'no-store' }),
    unavailable: refuse(503, 'Service temporarily unavailable'),
  };
}
