import type { AccessContext, PluginNeeds, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { tokenHider } from './access-token.ts';
import { answer, refusals, refuseMethod } from './answers.ts';
import { authorize } from './authorize.ts';
import { ClientAuthenticator } from './client.ts';
import { maxBodyBytes, readParameters } from './parameters.ts';
import { resourceAccess } from './resource.ts';
import type { OAuth2Config } from './schema.ts';
import { token } from './token.ts';

type Endpoint = 'authorization' | 'token';

/** Parameters are taken from queries too, although they do not belong there. */
export function needsOf(config: OAuth2Config): PluginNeeds {
  const queryArguments = ['access_token', 'client_secret', 'code', 'code_verifier', 'provision_key', 'refresh_token'];
  return { requestBody: { maxBytes: maxBodyBytes }, secrets: { queryArguments, headers: [config.auth_header_name] } };
}

/** An authorization server on the routes of an API (RFC 6749), which also checks the tokens that it gave out. */
export function authorizeClients(config: OAuth2Config, tools: PluginTools): PluginPhases {
  const clients = new ClientAuthenticator(tools);
  const resource = resourceAccess(config, tools);
  return {
    access(context) {
      const endpoint = endpointOf(context.request.path);
      if (endpoint === null) return resource(context);
      const { method } = context.request;
      if (method !== 'POST') return refuseMethod(method, endpoint, config.realm);
      return serve(config, tools, clients, context, endpoint);
    },
    skipped: tokenHider(config),
  };
}

/** The last characters of a path decide, so most paths are told apart by one of them. */
function endpointOf(path: string): Endpoint | null {
  const end = path.endsWith('/') ? path.length - 1 : path.length;
  if (path.endsWith('/oauth2/token', end)) return 'token';
  return path.endsWith('/oauth2/authorize', end) ? 'authorization' : null;
}

async function serve(
  config: OAuth2Config,
  tools: PluginTools,
  clients: ClientAuthenticator,
  context: AccessContext,
  endpoint: Endpoint,
): Promise<Reply> {
  const parameters = await readParameters(context);
  const state = parameters.get('state');
  if (!isSecure(context, config.accept_http_if_already_terminated)) return answer(400, refusals.https, state);
  const serviceId = config.global_credentials ? null : (context.service?.id ?? null);
  // Such a token would count as one for all services.
  if (serviceId === null && !config.global_credentials) return answer(400, refusals.noService, state);
  const work = { config, tools, parameters, serviceId };
  const { ip } = context.client;
  return endpoint === 'token' ? token(work, clients, context.request, ip) : authorize(work, clients, ip);
}

/** Over TLS to the gateway itself or, when the configuration says so, to a trusted proxy in front of it. */
function isSecure({ connection, request }: AccessContext, terminated: boolean): boolean {
  return connection.tls !== null || (terminated && request.scheme === 'https');
}
