import { foreignIdOf } from '../../plugin-sdk/index.ts';
import { isRefusal, refusals } from './answers.ts';
import { issueToken, renewToken } from './issue-token.ts';
import { type Client, isLookedUp, textOf } from './rows.ts';
import { narrowedScope } from './scopes.ts';
import type { Granted, TokenWork } from './token.ts';

/**
 * The refresh token grant (RFC 6749 6). A refresh token serves once, unless `reuse_refresh_token`: of several uses at
 * the same time, one gets a new pair of tokens. The old access token ends with it.
 */
export async function refresh(work: TokenWork, client: Client): Promise<Granted> {
  const { config, tools, parameters, serviceId } = work;
  const refreshToken = parameters.get('refresh_token');
  const asked = refreshToken !== null && isLookedUp(refreshToken);
  const row = !asked ? null : await tools.entities.find('oauth2_tokens', 'refresh_token', refreshToken);
  if (row === null || foreignIdOf(row, 'service') !== serviceId) return refusals.refreshToken;
  if (foreignIdOf(row, 'credential') !== client.row.id) return refusals.client;
  const scoped = narrowedScope(textOf(row, 'scope'), parameters.get('scope'));
  if (isRefusal(scoped)) return scoped;
  if (config.reuse_refresh_token) {
    return (await renewToken(config, tools.entities, row, scoped.scope))?.shown ?? refusals.refreshToken;
  }
  const userId = textOf(row, 'authenticated_userid');
  const request = { client, serviceId, userId, scope: scoped.scope, refreshable: true };
  // The new one first: should the store fail in between, the client still has its old one.
  const issued = await issueToken(config, tools.entities, request);
  if (await tools.entities.delete('oauth2_tokens', row.id)) return issued.shown;
  await tools.entities.delete('oauth2_tokens', issued.row.id);
  return refusals.refreshToken;
}
