import { EntityAccessError, type EntityRow, foreignIdOf } from '../../plugin-sdk/index.ts';
import { type GrantRequest, type GrantResult, issueToken, tokenFamilyLifetime } from './issue-token.ts';
import { type Challenge, verifierProblem } from './pkce.ts';
import { type Refusal, refusals } from './responses.ts';
import { type Client, canBeStored, textOf } from './rows.ts';
import { extendTokenFamily, revokeTokenFamily, revokeTokenFamilyOf, startTokenFamily } from './token-families.ts';

/**
 * The authorization code grant (RFC 6749 4.1.3). A code can be used once: of several concurrent uses, one gets a token.
 * A reused code revokes all tokens issued for it, because one of the two parties that used it has stolen it
 * (4.1.2). This needs no PKCE verifier: the code has leaked, whichever client presents it.
 */
export async function exchangeCode(grant: GrantRequest, client: Client): Promise<GrantResult> {
  const { config, tools, parameters, serviceId } = grant;
  const code = parameters.get('code');
  if (code === null || !canBeStored(code)) return refusals.code;
  const row = await tools.entities.find('oauth2_authorization_codes', 'code', code);
  if (row === null) return await refuseUsed(grant, client, code);
  if (!belongs(row, grant, client)) return refusals.code;
  const redirection = redirectionProblem(row, client, parameters.get('redirect_uri'));
  if (redirection !== null) return redirection;
  const problem = verifierProblem(config.pkce, client.isPublic, challengeOf(row), parameters.get('code_verifier'));
  if (problem !== null) return problem;
  const usedFor = textOf(row, 'token_id');
  if (usedFor !== null) {
    // A node with an earlier version exchanged it.
    await tools.entities.delete('oauth2_tokens', usedFor);
    return refusals.code;
  }
  if (!(await tools.entities.delete('oauth2_authorization_codes', row.id)))
    return await refuseUsed(grant, client, code);
  const lifetime = tokenFamilyLifetime(config);
  const known = foreignIdOf(row, 'family');
  const familyId = known ?? (await startTokenFamily(tools.entities, { client, serviceId }, lifetime));
  if (known !== null && !(await extendTokenFamily(tools.entities, known, lifetime))) return refusals.code;
  const request = {
    client,
    serviceId,
    familyId,
    userId: textOf(row, 'authenticated_userid'),
    scope: textOf(row, 'scope'),
  };
  try {
    return (await issueToken(config, tools.entities, request)).fields;
  } catch (error) {
    // The code was used again meanwhile, so its token family was revoked.
    if (error instanceof EntityAccessError && error.kind === 'conflict') return refusals.code;
    await revokeTokenFamily(tools.entities, familyId).catch(() => {});
    throw error;
  }
}

async function refuseUsed({ tools, serviceId }: GrantRequest, client: Client, code: string): Promise<Refusal> {
  await revokeTokenFamilyOf(tools.entities, code, { client, serviceId });
  return refusals.code;
}

/** If the authorization request named a URI, it is required and must be identical (RFC 6749 4.1.3). */
function redirectionProblem(row: EntityRow, client: Client, sent: string | null): Refusal | null {
  const authorized = textOf(row, 'redirect_uri');
  if (authorized === null && sent === null) return null;
  return sent === (authorized ?? client.redirectUris[0]) ? null : refusals.redirectUri;
}

function belongs(row: EntityRow, { tools, serviceId }: GrantRequest, client: Client): boolean {
  return (
    foreignIdOf(row, 'credential') === client.row.id &&
    foreignIdOf(row, 'service') === serviceId &&
    foreignIdOf(row, 'plugin') === tools.instanceId
  );
}

function challengeOf(row: EntityRow): Challenge {
  const method = textOf(row, 'challenge_method');
  return {
    challenge: textOf(row, 'challenge'),
    challenge_method: method === 'plain' || method === 'S256' ? method : null,
  };
}
