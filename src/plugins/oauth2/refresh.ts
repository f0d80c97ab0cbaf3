import { EntityAccessError, foreignIdOf } from '../../plugin-sdk/index.ts';
import { type GrantRequest, type GrantResult, issueToken, renewToken, tokenFamilyLifetime } from './issue-token.ts';
import { isRefusal, refusals } from './responses.ts';
import { type Client, canBeStored, textOf } from './rows.ts';
import { narrowedScope } from './scopes.ts';
import { adoptTokenFamily, extendTokenFamily, revokeTokenFamily, revokeTokenFamilyOf } from './token-families.ts';

/**
 * The refresh token grant (RFC 6749 6). A refresh token can be used once, unless `reuse_refresh_token`: of several
 * concurrent uses, one gets a new pair of tokens. The old access token becomes invalid. A reused refresh token revokes the
 * whole token family: client and attacker cannot be distinguished (RFC 9700 4.14.2).
 */
export async function refresh(grant: GrantRequest, client: Client): Promise<GrantResult> {
  const { config, tools, parameters, serviceId } = grant;
  const { entities } = tools;
  const refreshToken = parameters.get('refresh_token');
  if (refreshToken === null || !canBeStored(refreshToken)) return refusals.refreshToken;
  const row = await entities.find('oauth2_tokens', 'refresh_token', refreshToken);
  if (row === null) {
    await revokeTokenFamilyOf(entities, refreshToken, { client, serviceId });
    return refusals.refreshToken;
  }
  if (foreignIdOf(row, 'service') !== serviceId) return refusals.refreshToken;
  if (foreignIdOf(row, 'credential') !== client.row.id) return refusals.client;
  const scoped = narrowedScope(textOf(row, 'scope'), parameters.get('scope'));
  if (isRefusal(scoped)) return scoped;
  const lifetime = tokenFamilyLifetime(config);
  const known = foreignIdOf(row, 'family');
  if (known !== null && !(await extendTokenFamily(entities, known, lifetime))) return refusals.refreshToken;
  if (config.reuse_refresh_token) {
    return (await renewToken(config, entities, row, scoped.scope))?.fields ?? refusals.refreshToken;
  }
  const familyId = known ?? (await adoptTokenFamily(entities, { client, serviceId }, lifetime, refreshToken));
  const userId = textOf(row, 'authenticated_userid');
  try {
    // Issue before delete: if the store fails in between, the client can still use its old token.
    const issued = await issueToken(config, entities, { client, serviceId, userId, scope: scoped.scope, familyId });
    if (await entities.delete('oauth2_tokens', row.id)) return issued.fields;
  } catch (error) {
    if (error instanceof EntityAccessError && error.kind === 'conflict') return refusals.refreshToken;
    throw error;
  }
  await revokeTokenFamily(entities, familyId);
  return refusals.refreshToken;
}
