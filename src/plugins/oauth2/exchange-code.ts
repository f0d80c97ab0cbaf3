import { EntityAccessError, type EntityRow, foreignIdOf } from '../../plugin-sdk/index.ts';
import { type Refusal, refusals } from './answers.ts';
import { extendFamily, revokeFamily, revokeFamilyOf, startFamily } from './families.ts';
import { familyLifetime, issueToken } from './issue-token.ts';
import { type Challenge, verifierProblem } from './pkce.ts';
import { type Client, isLookedUp, textOf } from './rows.ts';
import type { Granted, TokenWork } from './token.ts';

/**
 * The authorization code grant (RFC 6749 4.1.3). A code serves once: of several uses at the same time, one gets a token.
 * A reused code revokes all tokens issued for it, because one of the two parties that used it has stolen it
 * (4.1.2). This needs no PKCE verifier: the code has leaked, whoever presents it.
 */
export async function exchangeCode(work: TokenWork, client: Client): Promise<Granted> {
  const { config, tools, parameters, serviceId } = work;
  const code = parameters.get('code');
  if (code === null || !isLookedUp(code)) return refusals.code;
  const row = await tools.entities.find('oauth2_authorization_codes', 'code', code);
  if (row === null) return await refuseUsed(work, client, code);
  if (!belongs(row, work, client)) return refusals.code;
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
  if (!(await tools.entities.delete('oauth2_authorization_codes', row.id))) return await refuseUsed(work, client, code);
  const lifetime = familyLifetime(config);
  const known = foreignIdOf(row, 'family');
  const familyId = known ?? (await startFamily(tools.entities, { client, serviceId }, lifetime));
  if (known !== null && !(await extendFamily(tools.entities, known, lifetime))) return refusals.code;
  const request = {
    client,
    serviceId,
    familyId,
    userId: textOf(row, 'authenticated_userid'),
    scope: textOf(row, 'scope'),
  };
  try {
    return (await issueToken(config, tools.entities, request)).shown;
  } catch (error) {
    // The code was presented again meanwhile, so its family is gone.
    if (error instanceof EntityAccessError && error.kind === 'conflict') return refusals.code;
    await revokeFamily(tools.entities, familyId).catch(() => {});
    throw error;
  }
}

async function refuseUsed({ tools, serviceId }: TokenWork, client: Client, code: string): Promise<Refusal> {
  await revokeFamilyOf(tools.entities, code, { client, serviceId });
  return refusals.code;
}

/** A URI that the authorization request named is required, and must be identical (RFC 6749 4.1.3). */
function redirectionProblem(row: EntityRow, client: Client, given: string | null): Refusal | null {
  const named = textOf(row, 'redirect_uri');
  if (named === null && given === null) return null;
  return given === (named ?? client.redirectUris[0]) ? null : refusals.redirectUri;
}

function belongs(row: EntityRow, { tools, serviceId }: TokenWork, client: Client): boolean {
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
