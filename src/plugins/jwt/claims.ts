import type { Claims } from './parse-token.ts';
import type { JwtConfig } from './schema.ts';

/** Problems by claim, in Kong's words; null: none. `now`: seconds since the epoch. */
export type CheckClaims = (claims: Claims, now: number) => Readonly<Record<string, string>> | null;

export function claimsChecker(config: JwtConfig): CheckClaims {
  const wanted = config.claims_to_verify ?? [];
  const bySet = config.jwks_uri !== null;
  const needsExp = wanted.includes('exp') || (bySet && config.jwks_require_exp);
  const needsNbf = wanted.includes('nbf');
  const longest = config.maximum_expiration ?? 0;
  const { leeway, issuers, audiences } = config;
  return (claims, now) => {
    const problems: Record<string, string> = {};
    const expiry = claims['exp'];
    const begin = claims['nbf'];
    if (needsExp || (bySet && expiry !== undefined)) {
      if (!isNumber(expiry)) problems['exp'] = 'must be a number';
      else if (expiry + leeway <= now) problems['exp'] = 'token expired';
    }
    if (needsNbf || (bySet && begin !== undefined)) {
      if (!isNumber(begin)) problems['nbf'] = 'must be a number';
      else if (begin - leeway > now) problems['nbf'] = 'token not valid yet';
    }
    if (longest > 0 && problems['exp'] === undefined && !(isNumber(expiry) && expiry - now <= longest)) {
      problems['exp'] = 'exceeds maximum allowed expiration';
    }
    const issuer = claims['iss'];
    if (issuers !== null && issuers.length > 0 && !(typeof issuer === 'string' && issuers.includes(issuer))) {
      problems['iss'] = 'not allowed';
    }
    if (audiences !== null && audiences.length > 0 && !meets(claims['aud'], audiences)) problems['aud'] = 'not allowed';
    for (const _name in problems) return problems;
    return null;
  };
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value);
}

/** Whether one of the token's audiences is allowed (RFC 7519 section 4.1.3). */
function meets(audience: unknown, wanted: readonly string[]): boolean {
  const named = Array.isArray(audience) ? audience : [audience];
  return named.some((one) => typeof one === 'string' && wanted.includes(one));
}

/** Scopes of a token: `scope` is a list with spaces (RFC 8693 section 4.2), `scp` is one or an array. */
export function scopesOf(claims: Claims): readonly string[] | null {
  const value = claims['scope'] ?? claims['scp'];
  if (typeof value === 'string') return value.split(' ').filter((scope) => scope !== '');
  return Array.isArray(value) ? value.filter((scope) => typeof scope === 'string') : null;
}
