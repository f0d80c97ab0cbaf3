import { EntityAccessError, foreignIdOf } from '../../plugin-sdk/index.ts';
import { isRefusal, refusals } from './answers.ts';
import { adoptFamily, extendFamily, revokeFamily, revokeFamilyOf } from './families.ts';
import { familyLifetime, issueToken, renewToken } from './issue-token.ts';
import { type Client, isLookedUp, textOf } from './rows.ts';
import { narrowedScope } from './scopes.ts';
import type { Granted, TokenWork } from './token.ts';

/**
 * The refresh token grant (RFC 6749 6). A refresh token serves once, unless `reuse_refresh_token`: of several uses at
 * the same time, one gets a new pair of tokens. The old access token ends with it. A reused refresh token
 * revokes its whole family: client and attacker cannot be distinguished (RFC 9700 4.14.2).
 */
export async function refresh(work: TokenWork, client: Client): Promise<Granted> {
  const { config, tools, parameters, serviceId } = work;
  const { entities } = tools;
  const refreshToken = parameters.get('refresh_token');
  if (refreshToken === null || !isLookedUp(refreshToken)) return refusals.refreshToken;
  const row = await entities.find('oauth2_tokens', 'refresh_token', refreshToken);
  if (row === null) {
    await revokeFamilyOf(entities, refreshToken, { client, serviceId });
    return refusals.refreshToken;
  }
  if (foreignIdOf(row, 'service') !== serviceId) return refusals.refreshToken;
  if (foreignIdOf(row, 'credential') !== client.row.id) return refusals.client;
  const scoped = narrowedScope(textOf(row, 'scope'), parameters.get('scope'));
  if (isRefusal(scoped)) return scoped;
  const lifetime = familyLifetime(config);
  const known = foreignIdOf(row, 'family');
  if (known !== null && !(await extendFamily(entities, known, lifetime))) return refusals.refreshToken;
  if (config.reuse_refresh_token) {
    return (await renewToken(config, entities, row, scoped.scope))?.shown ?? refusals.refreshToken;
  }
  const familyId = known ?? (await adoptFamily(entities, { client, serviceId }, lifetime, refreshToken));
  const userId = textOf(row, 'authenticated_userid');
  try {
    // The new one first: if the store fails in between, the client can still use its old one.
    const issued = await issueToken(config, entities, { client, serviceId, userId, scope: scoped.scope, familyId });
    if (await entities.delete('oauth2_tokens', row.id)) return issued.shown;
  } catch (error) {
    if (error instanceof EntityAccessError && error.kind === 'conflict') return refusals.refreshToken;
    throw error;
  }
  await revokeFamily(entities, familyId);
  return refusals.refreshToken;
}
