import type { PluginAdminAnswer, PluginAdminRoute, PluginAdminTools } from '../../plugin-sdk/index.ts';
import type { ShownCircuit } from './background.ts';

const states = ['closed', 'open', 'half-open', 'ramp'];

const onDataPlanes: PluginAdminAnswer = {
  status: 400,
  json: { message: 'a control plane has no circuits: GET /nodes lists those of its data planes that are not closed' },
};

export function adminRoutes(tools: PluginAdminTools): readonly PluginAdminRoute[] {
  const list = async (): Promise<readonly ShownCircuit[]> =>
    ((await tools.background('list')) as readonly ShownCircuit[] | null) ?? [];
  return [
    {
      path: '/circuit-breakers',
      operations: {
        GET: {
          access: 'read',
          summary: 'Circuits of this node that have ever opened: state, reason, the last transitions',
          queryParameters: [
            { name: 'state', description: 'Only circuits in this state.', schema: { type: 'string', enum: states } },
          ],
          async handle(request) {
            if (!tools.carriesTraffic) return onDataPlanes;
            const state = request.query('state');
            if (state !== null && !states.includes(state)) {
              return { status: 400, json: { message: `state must be one of: ${states.join(', ')}` } };
            }
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
