import { authAccess, bearerChallenge, bearerToken } from 'sluicegate/plugin-kit/auth';
import { isJsonObject, parseJson } from 'sluicegate/plugin-kit/json';
import { outageReporter } from 'sluicegate/plugin-kit/logging';
import { CacheLoadFailed, sharedCache, sharedCacheZone } from 'sluicegate/plugin-kit/shared-memory';
import { type AccessContext, definePlugin, refuse } from 'sluicegate/plugin-sdk';

const zone = 'remote-auth';

/** Asks a service whether a bearer token is valid, and remembers its answer for all workers of the node. */
export default definePlugin({
  name: 'remote-auth',
  version: '1.0.0',
  capabilities: [],
  priority: 1040,
  scopes: ['route', 'service'],
  schema: () => import('./schema.ts'),
  zones: () => [sharedCacheZone(zone, 8 * 1024 * 1024)],
  setup({ service, path, timeout, ttl, anonymous }, tools) {
    const version = JSON.stringify([service, path]);
    const ids = sharedCache<string>(tools, {
      zone,
      ttl: ttl * 1000,
      negativeTtl: 5000,
      timeout: timeout + 500,
      version,
    });
    const checkFailed = outageReporter(tools, 'check_failures', 'Tokens cannot be checked');

    /** Null: the service does not know the token. Rejects if it does not say so. */
    async function idOf(token: string, context: AccessContext): Promise<string | null> {
      const headers = [['Authorization', `Bearer ${token}`]] as const;
      // Detached: other requests wait for this answer, too.
      const bounds = { timeout, maxBytes: 65_536, detached: true };
      const { status, body } = await context.call({ to: { service }, path, headers, ...bounds });
      if (status === 401 || status === 403) return null;
      // Its errors, which are logged, never show what the service sent.
      const value = status === 200 ? parseJson(body) : null;
      const id = isJsonObject(value) ? value['id'] : null;
      if (typeof id !== 'string' || !/^[\x21-\x7e]{1,128}$/.test(id)) throw new Error(`no id, status ${status}`);
      return id;
    }

    async function attempt(context: AccessContext) {
      const token = bearerToken(context.request);
      try {
        const id = token ? await ids.get(token, () => idOf(token, context), context.client.ip) : null;
        if (id === null) return refuse(401, 'Unauthorized', { 'WWW-Authenticate': bearerChallenge({ realm: 'api' }) });
        context.authenticate(null, { id: null, identifier: id });
      } catch (error) {
        if (!(error instanceof CacheLoadFailed)) throw error;
        checkFailed(error.cause ?? error);
        return refuse(503, 'Tokens cannot be checked', { 'Retry-After': '1' });
      }
    }
    return { access: authAccess(tools, { anonymous, attempt }) };
  },
});
