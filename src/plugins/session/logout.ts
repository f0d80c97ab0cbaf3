import { bodyArguments, hasBodyArguments } from '../../plugin-kit/http/index.ts';
import type { AccessContext } from '../../plugin-sdk/index.ts';
import type { SessionConfig } from './schema.ts';

export const maxLogoutBody = 65_536;

/** A request with one of the methods, with the argument in its query or, when bodies are read, in its body. */
export function asksForLogout(context: AccessContext, config: SessionConfig): boolean | Promise<boolean> {
  const { request } = context;
  const { logout_methods: methods, logout_query_arg: inQuery, logout_post_arg: inBody } = config;
  if (!(methods as readonly string[] | null)?.includes(request.method)) return false;
  if (inQuery !== null && request.query !== '' && request.queryArgument(inQuery) !== null) return true;
  const type = request.header('content-type');
  if (!config.read_body_for_logout || inBody === null || !hasBodyArguments(type)) return false;
  // A large body is for the backend; it is passed unread.
  if (Number(request.header('content-length') ?? 0) > maxLogoutBody) return false;
  return context.body().then((body) => bodyArguments(type, body, new Set([inBody]))?.has(inBody) ?? false);
}
