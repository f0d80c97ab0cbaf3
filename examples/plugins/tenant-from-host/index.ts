import { contextKey, definePlugin, refuse } from 'sluicegate/plugin-sdk';

const tenantKey = contextKey<string>('tenant');

/** Finds the tenant of a request in its host (`acme.example.com`) and tells the backend. Refuses hosts of no tenant. */
export default definePlugin({
  name: 'tenant-from-host',
  version: '1.0.0',
  capabilities: [],
  // Before limits and authorization, which may use the header.
  priority: 988,
  config: ({ headerName, host, map, string }) => ({
    domain: host({ required: true, description: 'Domain above the names of the tenants: `example.com`.' }),
    header: headerName({ required: true, default: 'X-Tenant-Id', description: 'Header for the backend.' }),
    tenants: map(
      string({ match: /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/ }),
      string({ match: /^[A-Za-z0-9._-]{1,64}$/ }),
      { required: true, len_min: 1, len_max: 10_000, description: 'Id of each tenant, by its name in the host.' },
    ),
  }),
  setup({ domain, header, tenants }) {
    // A map: a client may name `__proto__`.
    const ids = new Map(Object.entries(tenants));
    const ending = `.${domain.toLowerCase()}`;
    return {
      access(context) {
        // Never `X-Forwarded-Host`: any client can send it.
        const { host } = context.request;
        const id = host.endsWith(ending) ? ids.get(host.slice(0, -ending.length)) : undefined;
        if (id === undefined) return refuse(404, 'Unknown tenant');
        // Replaces what the client sent under this name, also spelled with `_`.
        context.upstream.setHeader(header, id);
        context.set(tenantKey, id);
      },
      log(context) {
        const id = context.get(tenantKey);
        if (id !== undefined) context.log('tenant', id);
      },
    };
  },
});
