import { addVary, cookieValues, setCookie } from 'sluicegate/plugin-kit/http';
import { contextKey, definePlugin } from 'sluicegate/plugin-sdk';

const chosen = contextKey<{ readonly name: string; readonly isNew: boolean }>('variant');

/** Sends each client to one variant of a service, and keeps it there with a cookie. */
export default definePlugin({
  name: 'ab-by-cookie',
  version: '1.0.0',
  capabilities: [],
  // After authentication, before the cache.
  priority: 760,
  schema: () => import('./schema.ts'),
  setup({ cookie, days, variants }, tools) {
    const byName = new Map(variants.map((variant) => [variant.name, variant]));
    const total = variants.reduce((sum, { weight }) => sum + weight, 0);
    const drawn = (draw: number) => {
      let end = 0;
      for (const variant of variants) {
        end += variant.weight;
        if (draw * total < end) return variant;
      }
      return variants[0];
    };
    return {
      access(context) {
        // The value is a client's: only a name of the configuration counts.
        const kept = cookieValues(context.request, cookie).map((value) => byName.get(value));
        const known = kept.find((variant) => variant !== undefined);
        const variant = known ?? drawn(context.draw);
        if (variant === undefined) return;
        if (variant.service !== null && !context.upstream.setService(variant.service)) tools.count('missing_service');
        context.upstream.setHeader('X-Variant', variant.name);
        context.set(chosen, { name: variant.name, isNew: known === undefined });
        context.log('variant', variant.name);
      },
      headerFilter(context) {
        const variant = context.get(chosen);
        if (variant === undefined) return;
        addVary(context.response, 'Cookie');
        if (!variant.isNew) return;
        const secure = context.request.scheme === 'https';
        const attributes = { path: '/', domain: null, sameSite: 'Lax', httpOnly: true, secure } as const;
        context.response.addHeader('Set-Cookie', setCookie(cookie, variant.name, attributes, days * 86_400));
        // A cache must not give the cookie of one client to others.
        context.response.setHeader('Cache-Control', 'private, no-store');
      },
    };
  },
});
