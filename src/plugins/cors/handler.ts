import type { AccessContext, HeaderFilterContext, PluginPhases, Reply, RequestView } from '../../plugin-sdk/index.ts';
import { contextKey, reply } from '../../plugin-sdk/index.ts';
import { type OriginRule, originRule } from './origin-rule.ts';
import type { CorsConfig } from './schema.ts';

const everyMethod = 'GET,HEAD,PUT,PATCH,POST,DELETE,OPTIONS,TRACE,CONNECT';
/** Set on a preflight: its response already has all headers, or the backend sets them. */
const preflight = contextKey<true>('cors-preflight');

export function handleCors(config: CorsConfig): PluginPhases {
  const rule = originRule(config.origins);
  const exposed = listOrNull(config.exposed_headers);
  const fixed = preflightHeaders(config);
  return {
    access(context: AccessContext): Reply | undefined {
      if (!isPreflight(context.request)) return undefined;
      context.set(preflight, true);
      return config.preflight_continue ? undefined : answerPreflight(context.request, config, rule, fixed);
    },
    headerFilter(context: HeaderFilterContext): void {
      if (context.get(preflight) === true) return;
      const { response } = context;
      const { allow, vary, credentials } = decide(rule, config, context.request.header('origin'));
      if (vary) response.addHeader('Vary', 'Origin');
      if (allow === null) response.removeHeader('Access-Control-Allow-Origin');
      else response.setHeader('Access-Control-Allow-Origin', allow);
      if (credentials) response.setHeader('Access-Control-Allow-Credentials', 'true');
      if (exposed !== null) response.setHeader('Access-Control-Expose-Headers', exposed);
    },
  };
}

function isPreflight(request: RequestView): boolean {
  return (
    request.method === 'OPTIONS' &&
    request.header('origin') !== null &&
    request.header('access-control-request-method') !== null
  );
}

function answerPreflight(
  request: RequestView,
  config: CorsConfig,
  rule: OriginRule,
  fixed: Readonly<Record<string, string>>,
): Reply {
  const headers: Record<string, string> = {};
  const { allow, vary, credentials } = decide(rule, config, request.header('origin'));
  if (vary) headers['Vary'] = 'Origin';
  if (allow !== null) headers['Access-Control-Allow-Origin'] = allow;
  if (credentials) headers['Access-Control-Allow-Credentials'] = 'true';
  const requested = request.header('access-control-request-headers');
  if (requested !== null) headers['Access-Control-Allow-Headers'] = requested;
  Object.assign(headers, fixed);
  if (config.private_network && request.header('access-control-request-private-network') === 'true') {
    headers['Access-Control-Allow-Private-Network'] = 'true';
  }
  return reply({ status: 200, headers });
}

/** `*` is not valid with credentials, so the request's origin is sent instead. */
function decide(
  rule: OriginRule,
  config: CorsConfig,
  origin: string | null,
): { readonly allow: string | null; readonly vary: boolean; readonly credentials: boolean } {
  const { allow, all, vary } = rule(origin);
  if (!config.credentials) return { allow, vary, credentials: false };
  if (!all) return { allow, vary, credentials: true };
  return origin === null ? { allow, vary, credentials: false } : { allow: origin, vary: true, credentials: true };
}

/** Headers that are the same for every preflight. */
function preflightHeaders(config: CorsConfig): Readonly<Record<string, string>> {
  const headers: Record<string, string> = { 'Access-Control-Allow-Methods': config.methods?.join(',') ?? everyMethod };
  const allowed = listOrNull(config.headers);
  if (allowed !== null) headers['Access-Control-Allow-Headers'] = allowed;
  if (config.max_age !== null) headers['Access-Control-Max-Age'] = String(config.max_age);
  return headers;
}

function listOrNull(list: readonly string[] | null): string | null {
  return list === null || list.length === 0 ? null : list.join(',');
}
