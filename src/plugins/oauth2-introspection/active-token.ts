import { type Claims, claimAt, claimList, claimText, hasOneOf } from '../../plugin-kit/auth/index.ts';
import type { IntrospectionConfig } from './schema.ts';

/** The parsed response of the server. Made once for each response. */
export interface ActiveToken {
  readonly claims: Claims;
  readonly scopes: readonly string[];
  readonly hasScopes: boolean;
  /** Value that identifies the consumer. */
  readonly consumer: string | null;
  readonly identifier: string | null;
  /** Name and value; null: the client's header of this name is removed. */
  readonly headers: readonly (readonly [string, string | null])[];
}

const forwarded = {
  scope: 'X-Credential-Scope',
  client_id: 'X-Credential-Client-ID',
  username: 'X-Credential-Username',
  token_type: 'X-Credential-Token-Type',
  exp: 'X-Credential-Exp',
  iat: 'X-Credential-Iat',
  nbf: 'X-Credential-Nbf',
  sub: 'X-Credential-Sub',
  aud: 'X-Credential-Aud',
  iss: 'X-Credential-Iss',
  jti: 'X-Credential-Jti',
} as const;

/** Null: the token has expired, or is for another audience. */
export function activeToken(config: IntrospectionConfig, claims: Claims): ActiveToken | null {
  const now = Date.now() / 1000;
  const { exp, nbf } = claims;
  if (exp !== undefined && !(typeof exp === 'number' && exp > now)) return null;
  if (nbf !== undefined && !(typeof nbf === 'number' && nbf <= now)) return null;
  const wanted = config.audience_required;
  const audiences = typeof claims['aud'] === 'string' ? [claims['aud']] : claimList(claims['aud']);
  if (wanted !== null && wanted.length > 0 && !wanted.some((one) => audiences.includes(one))) return null;
  const scopes = claimList(claims['scope']);
  const names = identifierNames[config.consumer_by];
  return {
    claims,
    scopes,
    hasScopes: hasOneOf(scopes, config.scopes_required),
    consumer: textOf(claims, config.consumer_by),
    identifier: textOf(claims, ...names),
    headers: headersOf(config, claims),
  };
}

const identifierNames = {
  username: ['username', 'sub', 'client_id'],
  client_id: ['client_id', 'sub', 'username'],
} as const;

function headersOf(config: IntrospectionConfig, claims: Claims): ActiveToken['headers'] {
  const own = config.custom_claims_forward.map((name) => [name, headerFor(name)] as const);
  return [...Object.entries(forwarded), ...own].map(([claim, header]) => [header, claimText(claimAt(claims, [claim]))]);
}

/** `email_verified`: `X-Credential-Email-Verified`. */
function headerFor(claim: string): string {
  const words = claim.split(/[_-]+/).filter((word) => word !== '');
  return `X-Credential-${words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join('-')}`;
}

function textOf(claims: Claims, ...names: readonly string[]): string | null {
  for (const name of names) {
    const value = claimAt(claims, [name]);
    if (typeof value === 'string' && value !== '') return claimText(value);
  }
  return null;
}

/** All headers that the plugin may set, so that a client cannot send them itself. */
export function ownHeaders(config: IntrospectionConfig): readonly string[] {
  return [...Object.values(forwarded), ...config.custom_claims_forward.map(headerFor)];
}
