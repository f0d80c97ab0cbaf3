import type { Reply, RequestView } from '../../plugin-sdk/index.ts';
import { userRefusal } from './authorize.ts';
import { type ClientAuthenticator, isBasic, isClient, readCredentials } from './client.ts';
import { exchangeCode } from './exchange-code.ts';
import { type GrantRequest, type GrantResult, issueFirstToken, issueToken } from './issue-token.ts';
import { refresh } from './refresh.ts';
import { answer, busy, isRefusal, refusals, refuseClient } from './responses.ts';
import type { Client } from './rows.ts';
import type { OAuth2Config } from './schema.ts';
import { requestedScope } from './scopes.ts';

type GrantHandler = (grant: GrantRequest, client: Client) => Promise<GrantResult>;

/** The token endpoint (RFC 6749 3.2). */
export async function token(
  grant: GrantRequest,
  clients: ClientAuthenticator,
  request: RequestView,
  address: string,
): Promise<Reply> {
  const { config, parameters } = grant;
  if (parameters.malformed) return answer(400, refusals.malformed, null);
  const state = parameters.get('state');
  const handler = grantHandler(config, parameters.get('grant_type'));
  if (handler === null) return answer(400, refusals.grantType, state);
  const client = await clients.authenticate(readCredentials(request, parameters), address);
  if (client === 'busy') return busy(state);
  if (!isClient(client)) return refuseClient(client, state, isBasic(request));
  const result = await handler(grant, client);
  return isRefusal(result) ? refuseClient(result, state, isBasic(request)) : answer(200, result, state);
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

/** The client acts for itself or, with the provision key, for a user. */
async function clientCredentials(grant: GrantRequest, client: Client): Promise<GrantResult> {
  const { parameters } = grant;
  if (client.isPublic) return refusals.publicGrant;
  const userId = parameters.get('authenticated_userid');
  if (userId !== null || parameters.get('provision_key') !== null) {
    const refused = userRefusal(grant.config, parameters);
    if (refused !== null) return refused;
  }
  return scopedToken(grant, client, userId, false);
}

async function password(grant: GrantRequest, client: Client): Promise<GrantResult> {
  const refused = userRefusal(grant.config, grant.parameters);
  return refused ?? scopedToken(grant, client, grant.parameters.get('authenticated_userid'), true);
}

async function scopedToken(
  { config, tools, parameters, serviceId }: GrantRequest,
  client: Client,
  userId: string | null,
  refreshable: boolean,
): Promise<GrantResult> {
  const scoped = requestedScope(config, parameters.get('scope'));
  if (isRefusal(scoped)) return scoped;
  const request = { client, serviceId, userId, scope: scoped.scope };
  const issued = refreshable
    ? await issueFirstToken(config, tools.entities, request)
    : await issueToken(config, tools.entities, { ...request, familyId: null });
  return issued.fields;
}
