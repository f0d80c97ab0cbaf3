import { outageReporter } from 'sluicegate/plugin-kit/logging';
import { fractionOf } from 'sluicegate/plugin-kit/runtime';
import { type AccessContext, definePlugin, EntityAccessError, type EntityRow, refuse } from 'sluicegate/plugin-sdk';

/** Tells the backend which flags are on for a client, and can hide a route behind one. Flags are rows of `/feature-flags`. */
export default definePlugin({
  name: 'feature-flag',
  version: '1.0.0',
  capabilities: ['store'],
  // After authentication: a consumer keeps its flags on all devices.
  priority: 770,
  config: ({ set, string }) => ({
    flags: set(string({ match: /^[a-z0-9-]{1,64}$/ }), {
      required: true,
      default: [],
      len_max: 20,
      description: 'Names of flags that the backend needs.',
    }),
    gate: string({ match: /^[a-z0-9-]{1,64}$/, description: 'Flag without which the client gets a 404.' }),
  }),
  entities: () => import('./entities.ts'),
  setup({ flags, gate }, tools) {
    const names = gate === null || flags.includes(gate) ? flags : [...flags, gate];
    const storeFailed = outageReporter(tools, 'store_failures', 'The flags cannot be read, so they are off');

    function isOn(row: EntityRow | null, { client }: AccessContext): boolean {
      if (row === null || row['enabled'] !== true) return false;
      // The same on all workers and nodes. The name makes the shares of two flags independent.
      const part = fractionOf(client.consumer?.id ?? client.ip, String(row['name']));
      return part * 100 < Number(row['percent']);
    }

    return {
      async access(context) {
        let on: readonly string[] = [];
        try {
          // Names of the configuration only, so that the answers stay in the worker's cache.
          const rows = await Promise.all(names.map((name) => tools.entities.find('feature_flags', 'name', name)));
          on = names.filter((_, at) => isOn(rows[at] ?? null, context));
        } catch (error) {
          if (!(error instanceof EntityAccessError)) throw error;
          storeFailed(error);
        }
        if (gate !== null && !on.includes(gate)) return refuse(404, 'Not found');
        context.upstream.setHeader('X-Feature-Flags', on.join(','));
        context.log('flags', on);
      },
    };
  },
});
