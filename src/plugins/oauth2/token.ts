import type { PluginTools, Reply, RequestView } from '../../plugin-sdk/index.ts';
import { answer, busy, isRefusal, type Refusal, refusals, refuseClient } from './answers.ts';
import { unprovenUser } from './authorize.ts';
import { type ClientAuthenticator, isBasic, isClient, readClaim } from './client.ts';
import { exchangeCode } from './exchange-code.ts';
import { issueFirstToken, issueToken } from './issue-token.ts';
import type { Parameters } from './parameters.ts';
import { refresh } from './refresh.ts';
import type { Client } from './rows.ts';
import type { OAuth2Config } from './schema.ts';
import { requestedScope } from './scopes.ts';

/** A request to the token endpoint whose client has authenticated. */
export interface TokenWork {
  readonly config: OAuth2Config;
  readonly tools: PluginTools;
  readonly parameters: Parameters;
  /** Null: every service with `global_credentials`. */
  readonly serviceId: string | null;
}

/** What the client is told of its token. */
export type Granted = Readonly<Record<string, unknown>> | Refusal;

type GrantHandler = (work: TokenWork, client: Client) => Promise<Granted>;

/** The token endpoint (RFC 6749 3.2). */
export async function token(
  work: TokenWork,
  clients: ClientAuthenticator,
  request: RequestView,
  address: string,
): Promise<Reply> {
  const { config, parameters } = work;
  if (parameters.malformed) return answer(400, refusals.malformed, null);
  const state = parameters.get('state');
  const handler = grantHandler(config, parameters.get('grant_type'));
  if (handler === null) return answer(400, refusals.grantType, state);
  const client = await clients.authenticate(readClaim(request, parameters), address);
  if (client === 'busy') return busy(state);
  if (!isClient(client)) return refuseClient(client, state, isBasic(request));
  const granted = await handler(work, client);
  return isRefusal(granted) ? refuseClient(granted, state, isBasic(request)) : answer(200, granted, state);
}

function grantHandler(config: OAuth2Config, grantType: string | null): GrantHandler | null {
  switch (grantType) {
    case 'authorization_code':
      return config.enable_authorization_code ? exchangeCode : null;
    case 'client_credentials':
      return config.enable_client_credentials ? clientCredentials : null;
    case 'password':
      return config.enable_password_grant ? password : null;
    case 'refresh_token':
      return refresh;
    default:
      return null;
  }
}

/** The client acts for itself or, when it knows the provision key, for a user. */
async function clientCredentials(work: TokenWork, client: Client): Promise<Granted> {
  const { parameters } = work;
  if (client.isPublic) return refusals.publicGrant;
  const userId = parameters.get('authenticated_userid');
  if (userId !== null || parameters.get('provision_key') !== null) {
    const unproven = unprovenUser(work.config, parameters);
    if (unproven !== null) return unproven;
  }
  return scopedToken(work, client, userId, false);
}

async function password(work: TokenWork, client: Client): Promise<Granted> {
  const unproven = unprovenUser(work.config, work.parameters);
  return unproven ?? scopedToken(work, client, work.parameters.get('authenticated_userid'), true);
}

async function scopedToken(
  { config, tools, parameters, serviceId }: TokenWork,
  client: Client,
  userId: string | null,
  refreshable: boolean,
): Promise<Granted> {
  const scoped = requestedScope(config, parameters.get('scope'));
  if (isRefusal(scoped)) return scoped;
  const request = { client, serviceId, userId, scope: scoped.scope };
  const issued = refreshable
    ? await issueFirstToken(config, tools.entities, request)
    : await issueToken(config, tools.entities, { ...request, familyId: null });
  return issued.shown;
}
