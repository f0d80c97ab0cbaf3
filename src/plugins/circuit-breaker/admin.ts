import type { PluginAdminRoute, PluginAdminTools } from '../../plugin-sdk/index.ts';
import type { ShownCircuit } from './background.ts';

export function adminRoutes(tools: PluginAdminTools): readonly PluginAdminRoute[] {
  const list = async (): Promise<readonly ShownCircuit[]> =>
    ((await tools.background('list')) as readonly ShownCircuit[] | null) ?? [];
  return [
    {
      path: '/circuit-breakers',
      operations: {
        GET: {
          summary: 'Circuits of this node that have ever opened: state, reason, the last transitions',
          queryParameters: [{ name: 'state', description: 'Only those in this state: closed, open, half-open, ramp' }],
          async handle(request) {
            const state = request.query('state');
            const circuits = await list();
            return {
              status: 200,
              json: {
                data: state === null ? circuits : circuits.filter((circuit) => circuit.state === state),
                next: null,
              },
            };
          },
        },
      },
    },
  ];
}
