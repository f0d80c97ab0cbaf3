import { equalSecrets } from '../../plugin-kit/auth/index.ts';
import type { PluginTools, Reply } from '../../plugin-sdk/index.ts';
import type { ClientAuthenticator } from './client.ts';
import { issueToken } from './issue-token.ts';
import type { Parameters } from './parameters.ts';
import { readChallenge } from './pkce.ts';
import { answer, isRefusal, type Refusal, refusals } from './responses.ts';
import { type Client, hasControls } from './rows.ts';
import type { OAuth2Config } from './schema.ts';
import { requestedScope } from './scopes.ts';
import { startTokenFamily, tokenOfFamily } from './token-families.ts';

/** Seconds (RFC 6749 4.1.2 recommends at most ten minutes). */
export const codeLifetime = 300;

interface AuthorizationRequest {
  readonly config: OAuth2Config;
  readonly tools: PluginTools;
  readonly parameters: Parameters;
  /** Null: every service with `global_credentials`. */
  readonly serviceId: string | null;
}

type Result = Readonly<Record<string, unknown>> | Refusal;

/** Where the user is redirected to. */
interface Redirection {
  readonly uri: string;
  /** `redirect_uri` of the request; null if absent. */
  readonly named: string | null;
}

/**
 * The authorization endpoint (RFC 6749 3.1). The login page calls it, proves with the provision key that the user has logged
 * in, and receives the URI to redirect the browser of the user to. `address`: the IP address of the caller.
 */
export async function authorize(
  request: AuthorizationRequest,
  clients: ClientAuthenticator,
  address: string,
): Promise<Reply> {
  const { config, parameters } = request;
  const state = parameters.get('state');
  if (parameters.malformed) return answer(400, refusals.malformed, null);
  const refused = userRefusal(config, parameters);
  if (refused !== null) return answer(400, refused, state);
  const clientId = parameters.get('client_id');
  const client = clientId === null ? null : await clients.find([clientId], address);
  if (client === null) return answer(400, refusals.client, state);
  const redirection = redirectionFor(client, parameters.get('redirect_uri'));
  if (redirection === null) return answer(400, refusals.redirectUri, state);
  const type = parameters.get('response_type');
  const result = isRefusal(redirection) ? redirection : await grant(request, client, type, redirection);
  const uri = isRefusal(redirection) ? (client.redirectUris[0] ?? '') : redirection.uri;
  const fields = state === null ? result : { ...result, state };
  const location = withParameters(uri, fields, type === 'token' && config.enable_implicit_grant);
  return answer(isRefusal(result) ? 400 : 200, { redirect_uri: location }, null);
}

/** Refuses a request that is not from the login page, or has no user. */
export function userRefusal(config: OAuth2Config, parameters: Parameters): Refusal | null {
  if (
    !equalSecrets(parameters.get('provision_key') ?? '', config.provision_key ?? '') ||
    config.provision_key === null
  ) {
    return refusals.provisionKey;
  }
  const userId = parameters.get('authenticated_userid')?.trim() ?? '';
  return userId === '' || hasControls(userId) ? refusals.userId : null;
}

/** Null: the client has no redirection URI, so not even an error can be redirected. */
function redirectionFor(client: Client, named: string | null): Redirection | Refusal | null {
  const first = client.redirectUris[0];
  if (first === undefined) return null;
  if (named === null) return { uri: first, named };
  return client.redirectUris.includes(named) ? { uri: named, named } : refusals.redirectUri;
}

async function grant(
  request: AuthorizationRequest,
  client: Client,
  type: string | null,
  to: Redirection,
): Promise<Result> {
  const { config, parameters, tools, serviceId } = request;
  const byCode = type === 'code' && config.enable_authorization_code;
  if (!byCode && !(type === 'token' && config.enable_implicit_grant)) return refusals.responseType;
  const scoped = requestedScope(config, parameters.get('scope'));
  if (isRefusal(scoped)) return scoped;
  const userId = parameters.get('authenticated_userid');
  if (!byCode) {
    const token = { client, serviceId, userId, scope: scoped.scope, familyId: null };
    return (await issueToken(config, tools.entities, token)).fields;
  }
  const method = parameters.get('code_challenge_method');
  const challenge = readChallenge(config.pkce, client.isPublic, parameters.get('code_challenge'), method);
  if (isRefusal(challenge)) return challenge;
  const familyId = await startTokenFamily(tools.entities, { client, serviceId }, codeLifetime);
  const code = tokenOfFamily(familyId);
  await tools.entities.insert('oauth2_authorization_codes', {
    code,
    credential: { id: client.row.id },
    service: serviceId === null ? null : { id: serviceId },
    plugin: { id: tools.instanceId },
    family: { id: familyId },
    authenticated_userid: userId,
    scope: scoped.scope,
    redirect_uri: to.named,
    ...challenge,
    ttl: codeLifetime,
  });
  return { code };
}

/** Adds the fields to the query of the URI, or to its fragment for the implicit grant (RFC 6749 4.2.2). */
function withParameters(uri: string, fields: object, inFragment: boolean): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const separator = inFragment ? '#' : uri.includes('?') ? '&' : '?';
  return `${uri}${separator}${pairs.join('&')}`;
}
