import { equalSecrets, type PluginTools, type Reply } from '../../plugin-sdk/index.ts';
import { answer, isRefusal, type Refusal, refusals } from './answers.ts';
import type { ClientAuthenticator } from './client.ts';
import { familyToken, startFamily } from './families.ts';
import { issueToken } from './issue-token.ts';
import type { Parameters } from './parameters.ts';
import { readChallenge } from './pkce.ts';
import { type Client, hasControls } from './rows.ts';
import type { OAuth2Config } from './schema.ts';
import { requestedScope } from './scopes.ts';

/** Seconds (RFC 6749 4.1.2 asks for at most ten minutes). */
export const codeLifetime = 300;

interface Authorization {
  readonly config: OAuth2Config;
  readonly tools: PluginTools;
  readonly parameters: Parameters;
  /** Null: every service with `global_credentials`. */
  readonly serviceId: string | null;
}

type Result = Readonly<Record<string, unknown>> | Refusal;

/** Where the user is sent back to. */
interface Redirection {
  readonly uri: string;
  /** The URI as the request named it; null when it named none. */
  readonly named: string | null;
}

/**
 * The authorization endpoint (RFC 6749 3.1). It is called by the login page, which proves by the provision key that the
 * user has logged in, and it answers with the URI to redirect the user's browser to. `address`: the IP address of the
 * caller.
 */
export async function authorize(work: Authorization, clients: ClientAuthenticator, address: string): Promise<Reply> {
  const { config, parameters } = work;
  const state = parameters.get('state');
  if (parameters.malformed) return answer(400, refusals.malformed, null);
  const early = unprovenUser(config, parameters);
  if (early !== null) return answer(400, early, state);
  const clientId = parameters.get('client_id');
  const client = clientId === null ? null : await clients.find([clientId], address);
  if (client === null) return answer(400, refusals.client, state);
  const redirection = redirectionFor(client, parameters.get('redirect_uri'));
  if (redirection === null) return answer(400, refusals.redirectUri, state);
  const type = parameters.get('response_type');
  const result = isRefusal(redirection) ? redirection : await grant(work, client, type, redirection);
  const uri = isRefusal(redirection) ? (client.redirectUris[0] ?? '') : redirection.uri;
  const fields = state === null ? result : { ...result, state };
  const location = withParameters(uri, fields, type === 'token' && config.enable_implicit_grant);
  return answer(isRefusal(result) ? 400 : 200, { redirect_uri: location }, null);
}

/** Refuses a request that does not come from the login page, or that names no user. */
export function unprovenUser(config: OAuth2Config, parameters: Parameters): Refusal | null {
  if (
    !equalSecrets(parameters.get('provision_key') ?? '', config.provision_key ?? '') ||
    config.provision_key === null
  ) {
    return refusals.provisionKey;
  }
  const userId = parameters.get('authenticated_userid')?.trim() ?? '';
  return userId === '' || hasControls(userId) ? refusals.userId : null;
}

/** Null: the client has none, so there is nowhere to send the user, nor an error. */
function redirectionFor(client: Client, named: string | null): Redirection | Refusal | null {
  const first = client.redirectUris[0];
  if (first === undefined) return null;
  if (named === null) return { uri: first, named };
  return client.redirectUris.includes(named) ? { uri: named, named } : refusals.redirectUri;
}

async function grant(work: Authorization, client: Client, type: string | null, to: Redirection): Promise<Result> {
  const { config, parameters, tools, serviceId } = work;
  const byCode = type === 'code' && config.enable_authorization_code;
  if (!byCode && !(type === 'token' && config.enable_implicit_grant)) return refusals.responseType;
  const scoped = requestedScope(config, parameters.get('scope'));
  if (isRefusal(scoped)) return scoped;
  const userId = parameters.get('authenticated_userid');
  if (!byCode) {
    const request = { client, serviceId, userId, scope: scoped.scope, familyId: null };
    return (await issueToken(config, tools.entities, request)).shown;
  }
  const method = parameters.get('code_challenge_method');
  const challenge = readChallenge(config.pkce, client.isPublic, parameters.get('code_challenge'), method);
  if (isRefusal(challenge)) return challenge;
  const familyId = await startFamily(tools.entities, { client, serviceId }, codeLifetime);
  const code = familyToken(familyId);
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

/** Adds the answer to the URI: to its query, or, of the implicit grant, to its fragment (RFC 6749 4.2.2). */
function withParameters(uri: string, fields: object, inFragment: boolean): string {
  const pairs = Object.entries(fields).map(([name, value]) => `${name}=${encodeURIComponent(String(value))}`);
  const separator = inFragment ? '#' : uri.includes('?') ? '&' : '?';
  return `${uri}${separator}${pairs.join('&')}`;
}
