import type { EntityRow, PluginTools } from '../../plugin-sdk/index.ts';
import type { Parameters } from './parameters.ts';
import type { Refusal } from './responses.ts';
import { type Client, randomToken, textOf } from './rows.ts';
import type { OAuth2Config } from './schema.ts';
import { startTokenFamily, tokenOfFamily } from './token-families.ts';

/** A request to the token endpoint whose client has authenticated. */
export interface GrantRequest {
  readonly config: OAuth2Config;
  readonly tools: PluginTools;
  readonly parameters: Parameters;
  /** Null: every service with `global_credentials`. */
  readonly serviceId: string | null;
}

/** The fields of the response, or a refusal. */
export type GrantResult = Readonly<Record<string, unknown>> | Refusal;

/** The properties of a new token. */
export interface TokenRequest {
  readonly client: Client;
  /** Null: every service with `global_credentials`. */
  readonly serviceId: string | null;
  readonly userId: string | null;
  readonly scope: string | null;
  /** The token family; null: no family, and no refresh token. */
  readonly familyId: string | null;
}

/** A stored token, and the fields of the response (RFC 6749 5.1). */
export interface IssuedToken {
  readonly row: EntityRow;
  readonly fields: Readonly<Record<string, unknown>>;
}

export async function issueToken(
  config: OAuth2Config,
  entities: PluginTools['entities'],
  { client, serviceId, userId, scope, familyId }: TokenRequest,
): Promise<IssuedToken> {
  const lifetime = tokenLifetime(config);
  const refreshToken = familyId !== null && lifetime > 0 ? tokenOfFamily(familyId) : null;
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
    // Without a refresh token, the row has no use after the token has expired.
    ttl: refreshToken === null ? lifetime : refreshLifetime(config),
  });
  return { row, fields: tokenFields(row) };
}

/** Issues a token in a new token family. */
export async function issueFirstToken(
  config: OAuth2Config,
  entities: PluginTools['entities'],
  request: Omit<TokenRequest, 'familyId'>,
): Promise<IssuedToken> {
  const familyId = await startTokenFamily(entities, request, tokenFamilyLifetime(config));
  return issueToken(config, entities, { ...request, familyId });
}

/** Maximum lifetime in seconds of the tokens that a request issues; 0: they do not expire. */
export function tokenFamilyLifetime(config: OAuth2Config): number {
  const lifetime = tokenLifetime(config);
  return lifetime === 0 ? 0 : refreshLifetime(config);
}

/** Replaces the access token and its lifetime; the refresh token stays valid. Null: the token does not exist any more. */
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
  return row === null ? null : { row, fields: tokenFields(row) };
}

function tokenFields(row: EntityRow): Readonly<Record<string, unknown>> {
  const lifetime = Number(row['expires_in']);
  const refreshToken = textOf(row, 'refresh_token');
  return {
    access_token: row['access_token'],
    token_type: 'bearer',
    ...(lifetime > 0 && { expires_in: lifetime }),
    ...(refreshToken !== null && { refresh_token: refreshToken }),
  };
}

/** Whole seconds, rounded up: 0 would mean that the token does not expire. */
function tokenLifetime(config: OAuth2Config): number {
  return Math.max(0, Math.ceil(config.token_expiration));
}

function refreshLifetime(config: OAuth2Config): number {
  return Math.ceil(config.refresh_token_ttl);
}
