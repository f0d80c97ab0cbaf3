import type { AdminDependencies } from '../../contract.ts';
import type { AdminRoute } from '../../http/admin-route.ts';
import { plainError } from '../../http/http-error.ts';
import { readSummary } from './summary.ts';
import type { AnalyticsTools } from './tools.ts';
import { listUsage } from './usage-list.ts';
import { UsageNames } from './usage-names.ts';
import { filterParameters } from './usage-request.ts';

const group = '(?:node|route|service|consumer|version|status|minute|hour|day)';
const groupPattern = `^${group}(?:,${group})*$`;

/** `/analytics/...`: how the API is used. */
export function analyticsRoutes({ analytics, store }: AdminDependencies): readonly AdminRoute[] {
  const tools = analytics === null ? null : { analytics, names: new UsageNames(store, analytics.ledger) };
  const needed = (): AnalyticsTools => {
    if (tools === null) throw plainError(404, 'Usage is not counted: the setting analytics is off');
    return tools;
  };
  return [
    {
      path: '/analytics/usage',
      tag: 'analytics',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => listUsage(needed(), request),
          notes: {
            summary: 'How the API was used, by time and what requests have in common; JSON or CSV',
            answer: 'list',
            entity: 'usage',
            otherTypes: ['text/csv'],
            queryParameters: [
              ...filterParameters,
              {
                name: 'group_by',
                description:
                  'Fields to group by, with commas: `route`, `service`, `consumer`, `version`, `status`, `node`, and `minute`, `hour` or `day`. Default: all but the node.',
                schema: { type: 'string', pattern: groupPattern },
              },
              {
                name: 'format',
                description: 'Default: chosen by `Accept`.',
                schema: { type: 'string', enum: ['json', 'csv'] },
              },
            ],
          },
        },
      },
    },
    {
      path: '/analytics/summary',
      tag: 'analytics',
      operations: {
        GET: {
          access: 'read',
          handle: (request) => readSummary(needed(), request),
          notes: {
            summary: 'Totals, their course over time, and the most used routes, services, consumers and versions',
            answer: 'entity',
            entity: 'usage_summary',
            queryParameters: [
              ...filterParameters,
              {
                name: 'top',
                description: 'Maximum number of rows of each kind.',
                schema: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
              },
              {
                name: 'sort',
                description: 'What to rank by.',
                schema: { type: 'string', enum: ['requests', 'errors', 'bytes', 'latency'], default: 'requests' },
              },
            ],
          },
        },
      },
    },
  ];
}
