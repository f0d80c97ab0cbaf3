import type { TrafficDesk } from '../../../traffic/traffic-desk.ts';
import type { KeptRecord } from '../../../traffic/traffic-ring.ts';
import type { AdminDependencies } from '../../contract.ts';
import { durationParameter } from '../../events/event-streams.ts';
import { type AdminRequest, type AdminRoute, type Answer, noContent, ok } from '../../http/admin-route.ts';
import { notFound } from '../../http/http-error.ts';
import { pagingNames, refuseUnknown } from '../../lists/known-parameters.ts';
import { type ListSource, readListPage } from '../../lists/list-page.ts';
import { readListRequest } from '../../lists/list-request.ts';
import { refusing } from '../static-responses.ts';
import { LiveTraffic } from './live-traffic.ts';
import { bodiesParameter, readBodies, wholeRecord } from './recorded-bodies.ts';
import { filterParameters, readTrafficRequest, type TrafficRequest, timeParameters } from './traffic-request.ts';

const noTraffic =
  'this node is a control plane and carries no traffic: its data planes do (GET /clustering/data-planes), and they have no Admin API; ' +
  'run `sluicegate explain` on a data plane, or send its log records with a log plugin';

const listFilters = [...filterParameters, ...timeParameters];

/** `/traffic`: what the workers of this node have recorded. */
export function trafficRoutes({
  traffic,
  closing,
}: Pick<AdminDependencies, 'traffic' | 'closing'>): readonly AdminRoute[] {
  if (traffic === null) {
    return [
      refusing('/traffic', ['GET', 'DELETE'], noTraffic),
      refusing('/traffic/live', ['GET'], noTraffic),
      refusing('/traffic/plugins', ['GET'], noTraffic),
      refusing('/traffic/{traffic_records}', ['GET'], noTraffic),
    ];
  }
  const live = new LiveTraffic(traffic, { closing });
  return [
    {
      path: '/traffic',
      tag: 'traffic',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => listTraffic(traffic, request),
          notes: {
            summary: 'The last requests to this node, newest first; switches the recorder on for 30 seconds',
            answer: 'list',
            entity: 'traffic_records',
            queryParameters: [...listFilters, bodiesParameter],
          },
        },
        DELETE: {
          access: 'admin',
          handle: () => {
            traffic.clear();
            return noContent;
          },
          notes: { summary: 'Forget the recorded requests', answer: 'none', status: 204 },
        },
      },
    },
    {
      path: '/traffic/live',
      tag: 'traffic',
      operations: {
        GET: {
          access: 'read',
          events: true,
          handle: (request) => live.open(request),
          notes: {
            summary: 'Requests as they end: server-sent events `request`, `rate` each second, and `end`',
            answer: 'events',
            queryParameters: [...filterParameters, durationParameter, bodiesParameter],
            otherStatuses: [503],
          },
        },
      },
    },
    {
      path: '/traffic/plugins',
      tag: 'traffic',
      operations: {
        GET: {
          access: 'read',
          handle: async ({ query }) => {
            refuseUnknown(query, []);
            await traffic.look();
            return ok(await traffic.pluginCosts());
          },
          notes: {
            summary: 'What plugins took in the last requests to this node; switches the recorder on for 30 seconds',
            answer: 'entity',
            entity: 'plugin_costs',
          },
        },
      },
    },
    {
      path: '/traffic/{traffic_records}',
      tag: 'traffic',
      operations: {
        GET: {
          access: 'read',
          handle: async (request) => {
            await traffic.look(readBodies(request));
            const record = traffic.get(request.params['traffic_records'] ?? '');
            if (record === null) throw notFound();
            return ok(wholeRecord(record, request.caller));
          },
          notes: {
            summary: 'One request, and what happened to it',
            answer: 'entity',
            entity: 'traffic_records',
            queryParameters: [bodiesParameter],
          },
        },
      },
    },
  ];
}

async function listTraffic(traffic: TrafficDesk, request: AdminRequest): Promise<Answer> {
  const { query, path } = request;
  const { filter, given } = readTrafficRequest(query, listFilters, [...pagingNames, bodiesParameter.name]);
  const page = readListRequest(query);
  await traffic.look(readBodies(request));
  const links = { path, tags: undefined, nested: false, filters: given };
  const body = await readListPage(sourceOf(traffic, filter), page, links);
  return ok({ ...body, recorder: { state: traffic.state, bodies: traffic.bodies, ...traffic.totals } });
}

function sourceOf(traffic: TrafficDesk, filter: TrafficRequest['filter']): ListSource<KeptRecord> {
  const position = ({ serial, entry }: KeptRecord) => ({ createdAt: serial, id: entry.id });
  return {
    kongDirection: 'desc',
    read: async ({ order = 'asc', after, createdBefore = null, skip = 0, limit }) =>
      traffic.read(filter, { order, after: after?.createdAt ?? null, before: createdBefore, skip, limit }),
    position,
    present: async (records) => records.map(({ entry }) => entry),
    async find(id) {
      const record = traffic.get(id);
      return record === null ? null : position(record);
    },
  };
}
