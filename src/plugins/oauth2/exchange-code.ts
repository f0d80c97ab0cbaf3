import { type EntityRow, foreignIdOf } from '../../plugin-sdk/index.ts';
import { refusals } from './answers.ts';
import { issueToken } from './issue-token.ts';
import { type Challenge, verifierProblem } from './pkce.ts';
import { type Client, isLookedUp, textOf } from './rows.ts';
import type { Granted, TokenWork } from './token.ts';

/** Milliseconds after the use of a code in which another one is taken for the same request, sent twice. */
const retryTime = 2000;

/**
 * The authorization code grant (RFC 6749 4.1.3). A code serves once: of several uses at the same time, one gets a token.
 * A code that is shown again later within its lifetime, by the client and with all that proves it, takes its token back,
 * because one of the two who showed it is a thief (4.1.2).
 */
export async function exchangeCode(work: TokenWork, client: Client): Promise<Granted> {
  const { config, tools, parameters, serviceId } = work;
  const code = parameters.get('code');
  const row =
    code === null || !isLookedUp(code) ? null : await tools.entities.find('oauth2_authorization_codes', 'code', code);
  if (row === null || !belongs(row, work, client)) return refusals.code;
  const uri = parameters.get('redirect_uri');
  if (uri !== null && uri !== (textOf(row, 'redirect_uri') ?? client.redirectUris[0])) return refusals.redirectUri;
  const problem = verifierProblem(config.pkce, client.isPublic, challengeOf(row), parameters.get('code_verifier'));
  if (problem !== null) return problem;
  const used = textOf(row, 'token_id');
  if (used !== null) {
    if (Date.now() - row.created_at >= retryTime) await tools.entities.delete('oauth2_tokens', used);
    return refusals.code;
  }
  if (!(await tools.entities.delete('oauth2_authorization_codes', row.id))) return refusals.code;
  const issued = await issueToken(config, tools.entities, {
    client,
    serviceId,
    userId: textOf(row, 'authenticated_userid'),
    scope: textOf(row, 'scope'),
    refreshable: true,
  });
  await remember(work, row, issued.row.id);
  return issued.shown;
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

/** Keeps the code, with its token, for the rest of its life, so that a second use is seen. */
async function remember({ tools }: TokenWork, row: EntityRow, tokenId: string): Promise<void> {
  const { id: _id, created_at: _made, expires_at: expiresAt, ttl: _ttl, ...fields } = row;
  const left = typeof expiresAt === 'number' ? Math.ceil((expiresAt - Date.now()) / 1000) : 0;
  if (left <= 0) return;
  try {
    await tools.entities.insert('oauth2_authorization_codes', { ...fields, token_id: tokenId, ttl: left });
  } catch {
    // The client has its token; only the guard against a second use is missing.
    tools.log.warn('a used authorization code could not be kept');
  }
}
