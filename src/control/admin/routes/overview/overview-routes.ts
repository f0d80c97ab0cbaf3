import type { AdminDependencies } from '../../contract.ts';
import { durationParameter } from '../../events/event-streams.ts';
import { type AdminRoute, ok } from '../../http/admin-route.ts';
import { refuseUnknown } from '../../lists/known-parameters.ts';
import { historyParameter, LiveOverview } from './live-overview.ts';
import { OverviewDocument } from './overview-document.ts';

/** `/overview`: what is going on now on this node. */
export function overviewRoutes(deps: AdminDependencies): readonly AdminRoute[] {
  const document = new OverviewDocument(deps);
  const live = new LiveOverview(deps, document);
  return [
    {
      path: '/overview',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          handle: async () => ok(await document.read()),
          notes: {
            summary: 'What is going on now on this node: traffic, its users, and what needs attention',
            answer: 'entity',
            entity: 'overview',
          },
        },
      },
    },
    {
      path: '/overview/live',
      tag: 'node',
      operations: {
        GET: {
          access: 'read',
          events: true,
          handle: (request) => {
            refuseUnknown(request.query, ['history', 'duration']);
            return live.open(request, request.query);
          },
          notes: {
            summary: 'The same as server-sent events: `second` each second, `state` when something else has changed',
            answer: 'events',
            queryParameters: [historyParameter, durationParameter],
            otherStatuses: [503],
          },
        },
      },
    },
  ];
}
