import type { AccessContext, PluginNeeds, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { tokenHider } from './access-token.ts';
import { authorize } from './authorize.ts';
import { ClientAuthenticator } from './client.ts';
import { maxBodyBytes, readParameters } from './parameters.ts';
import { resourceAccess } from './resource.ts';
import { answer, refusals, refuseMethod } from './responses.ts';
import type { OAuth2Config } from './schema.ts';
import { token } from './token.ts';

type Endpoint = 'authorization' | 'token';

/** Clients may send parameters in the query, too: keep them out of logs. */
export function oauth2Needs(config: OAuth2Config): PluginNeeds {
  const queryArguments = ['access_token', 'client_secret', 'code', 'code_verifier', 'provision_key', 'refresh_token'];
  return { requestBody: { maxBytes: maxBodyBytes }, secrets: { queryArguments, headers: [config.auth_header_name] } };
}

/** An authorization server on the routes of an API (RFC 6749), which also checks the tokens that it issued. */
export function authorizeWithOAuth2(config: OAuth2Config, tools: PluginTools): PluginPhases {
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
    accessSkipped: tokenHider(config),
  };
}

/** Compares the end of the path: most paths differ in the last character. */
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
  // A token without a service would be valid for all services.
  if (serviceId === null && !config.global_credentials) return answer(400, refusals.noService, state);
  const request = { config, tools, parameters, serviceId };
  const { ip } = context.client;
  return endpoint === 'token' ? token(request, clients, context.request, ip) : authorize(request, clients, ip);
}

/** TLS ends at the gateway or, if configured, at a trusted proxy in front of it. */
function isSecure({ connection, request }: AccessContext, terminated: boolean): boolean {
  return connection.tls !== null || (terminated && request.scheme === 'https');
}
