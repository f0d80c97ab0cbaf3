import type { EntityRow, PluginTools } from '../../plugin-sdk/index.ts';
import { familyToken, startFamily } from './families.ts';
import { type Client, randomToken, textOf } from './rows.ts';
import type { OAuth2Config } from './schema.ts';

/** What a new token is for. */
export interface TokenRequest {
  readonly client: Client;
  /** Null: every service with `global_credentials`. */
  readonly serviceId: string | null;
  readonly userId: string | null;
  readonly scope: string | null;
  /** The family of the token; null: no family, and no refresh token. */
  readonly familyId: string | null;
}

/** A stored token, and what the client is told of it (RFC 6749 5.1). */
export interface IssuedToken {
  readonly row: EntityRow;
  readonly shown: Readonly<Record<string, unknown>>;
}

export async function issueToken(
  config: OAuth2Config,
  entities: PluginTools['entities'],
  { client, serviceId, userId, scope, familyId }: TokenRequest,
): Promise<IssuedToken> {
  const lifetime = tokenLifetime(config);
  const refreshToken = familyId !== null && lifetime > 0 ? familyToken(familyId) : null;
  const row = await entities.insert('oauth2_tokens', {
    credential: { id: client.row.id },
    service: serviceId === null ? null : { id: serviceId },
    family: familyId === null ? null : { id: familyId },
    token_type: 'bearer',
    access_token: randomToken(),
    refresh_token: refreshToken,
    expires_in: lifetime,
    authenticated_userid: userId,
    scope,
    // Without a refresh token nothing is left of it when it has expired.
    ttl: refreshToken === null ? lifetime : refreshLifetime(config),
  });
  return { row, shown: shownToken(row) };
}

/** Issues a token that starts a family of its own. */
export async function issueFirstToken(
  config: OAuth2Config,
  entities: PluginTools['entities'],
  request: Omit<TokenRequest, 'familyId'>,
): Promise<IssuedToken> {
  const familyId = await startFamily(entities, request, familyLifetime(config));
  return issueToken(config, entities, { ...request, familyId });
}

/** Maximum lifetime in seconds of the tokens that a request issues; 0: they do not expire. */
export function familyLifetime(config: OAuth2Config): number {
  const lifetime = tokenLifetime(config);
  return lifetime === 0 ? 0 : refreshLifetime(config);
}

/** Gives a token a new access token and life; its refresh token stays. Null when it is gone. */
export async function renewToken(
  config: OAuth2Config,
  entities: PluginTools['entities'],
  token: EntityRow,
  scope: string | null,
): Promise<IssuedToken | null> {
  const row = await entities.update('oauth2_tokens', token.id, {
    access_token: randomToken(),
    expires_in: tokenLifetime(config),
    scope,
    created_at: Math.floor(Date.now() / 1000),
    ttl: refreshLifetime(config),
  });
  return row === null ? null : { row, shown: shownToken(row) };
}

function shownToken(row: EntityRow): Readonly<Record<string, unknown>> {
  const lifetime = Number(row['expires_in']);
  const refreshToken = textOf(row, 'refresh_token');
  return {
    access_token: row['access_token'],
    token_type: 'bearer',
    ...(lifetime > 0 && { expires_in: lifetime }),
    ...(refreshToken !== null && { refresh_token: refreshToken }),
  };
}

/** Whole seconds, rounded up: a part of one must not become 0, which is for ever. */
function tokenLifetime(config: OAuth2Config): number {
  return Math.max(0, Math.ceil(config.token_expiration));
}

function refreshLifetime(config: OAuth2Config): number {
  return Math.ceil(config.refresh_token_ttl);
}
