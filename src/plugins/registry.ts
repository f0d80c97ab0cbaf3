// Generated from the folder names by `npm run generate`. Do not edit.
import type { PluginLoader } from '../plugin-sdk/define-plugin.ts';

export const bundledPlugins: ReadonlyMap<string, PluginLoader> = new Map<string, PluginLoader>([
  ['acl', () => import('./acl/index.ts')],
  ['auth-any', () => import('./auth-any/index.ts')],
  ['authorization', () => import('./authorization/index.ts')],
  ['basic-auth', () => import('./basic-auth/index.ts')],
  ['bot-detection', () => import('./bot-detection/index.ts')],
  ['concurrency-limiting', () => import('./concurrency-limiting/index.ts')],
  ['correlation-id', () => import('./correlation-id/index.ts')],
  ['cors', () => import('./cors/index.ts')],
  ['hmac-auth', () => import('./hmac-auth/index.ts')],
  ['ip-restriction', () => import('./ip-restriction/index.ts')],
  ['jwt', () => import('./jwt/index.ts')],
  ['key-auth', () => import('./key-auth/index.ts')],
  ['ldap-auth', () => import('./ldap-auth/index.ts')],
  ['mtls-auth', () => import('./mtls-auth/index.ts')],
  ['oauth2', () => import('./oauth2/index.ts')],
  ['oauth2-introspection', () => import('./oauth2-introspection/index.ts')],
  ['openid-connect', () => import('./openid-connect/index.ts')],
  ['quotas', () => import('./quotas/index.ts')],
  ['rate-limiting', () => import('./rate-limiting/index.ts')],
  ['request-size-limiting', () => import('./request-size-limiting/index.ts')],
  ['request-termination', () => import('./request-termination/index.ts')],
  ['response-ratelimiting', () => import('./response-ratelimiting/index.ts')],
  ['session', () => import('./session/index.ts')],
  ['throttling', () => import('./throttling/index.ts')],
]);
