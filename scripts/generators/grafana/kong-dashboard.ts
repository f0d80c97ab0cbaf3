import type { Dashboard, Panel, Query } from './panels.ts';

/* The questions of the community's dashboard for Kong (7424), asked by Kong's metric names. */

const node = 'instance=~"$instance"';
const scope = `service=~"$service", route=~"$route", ${node}`;

function rate(title: string, by: string): Panel {
  const expr = `sum by (${by}) (rate(kong_http_requests_total{${scope}}[$__rate_interval]))`;
  return { title, type: 'timeseries', unit: 'reqps', queries: [{ expr, legend: legendOf(by) }] };
}

function latency(title: string, metric: string, by: string): Panel {
  const labels = by === '' ? 'le' : `${by}, le`;
  const queries = [90, 95, 99].map((percent): Query => {
    const buckets = `sum by (${labels}) (rate(${metric}_bucket{${scope}}[$__rate_interval]))`;
    return { expr: `histogram_quantile(0.${percent}, ${buckets})`, legend: `p${percent} ${legendOf(by)}`.trim() };
  });
  return { title, type: 'timeseries', unit: 'ms', queries, width: 8 };
}

function bandwidth(title: string, filter: string, by: string): Panel {
  const expr = `sum by (${by}) (irate(kong_bandwidth_bytes{${filter}}[$__rate_interval]))`;
  return { title, type: 'timeseries', unit: 'Bps', queries: [{ expr, legend: legendOf(by) }] };
}

function legendOf(by: string): string {
  return by
    .split(', ')
    .filter((label) => label !== '')
    .map((label) => `{{${label}}}`)
    .join(' ');
}

const latencies = [
  ['The gateway', 'kong_kong_latency_ms'],
  ['The whole request', 'kong_request_latency_ms'],
  ['The backend', 'kong_upstream_latency_ms'],
] as const;

export const kongDashboard: Dashboard = {
  uid: 'sluicegate-kong',
  title: 'Kong metrics',
  description: 'Requests, latencies, bandwidth, memory, upstreams and connections by the metric names of Kong.',
  variables: [
    { name: 'service', metric: 'kong_http_requests_total' },
    { name: 'route', metric: 'kong_http_requests_total' },
    { name: 'instance', metric: 'kong_nginx_connections_total' },
    { name: 'upstream', metric: 'kong_upstream_target_health' },
  ],
  rows: [
    {
      title: 'Requests',
      panels: [
        {
          title: 'Total requests per second',
          type: 'timeseries',
          unit: 'reqps',
          width: 24,
          queries: [{ expr: `sum(rate(kong_http_requests_total{${node}}[$__rate_interval]))`, legend: 'requests' }],
        },
        rate('By service', 'service'),
        rate('By route', 'route'),
        rate('By service and status', 'service, code'),
        rate('By route and status', 'route, code'),
      ],
    },
    {
      title: 'Latencies',
      panels: [
        ...latencies.map(([title, metric]) => latency(title, metric, '')),
        ...latencies.map(([title, metric]) => latency(`${title}, by service`, metric, 'service')),
        ...latencies.map(([title, metric]) => latency(`${title}, by route`, metric, 'route')),
      ],
    },
    {
      title: 'Bandwidth',
      panels: [
        { ...bandwidth('Total', node, 'direction'), width: 24 },
        bandwidth('To clients, by service', `direction="egress", ${scope}`, 'service'),
        bandwidth('From clients, by service', `direction="ingress", ${scope}`, 'service'),
        bandwidth('To clients, by route', `direction="egress", ${scope}`, 'route'),
        bandwidth('From clients, by route', `direction="ingress", ${scope}`, 'route'),
      ],
    },
    {
      title: 'Memory',
      panels: [
        {
          title: 'Shared memory in use',
          description: 'The fill of each zone.',
          type: 'timeseries',
          unit: 'percentunit',
          queries: [
            {
              expr: `kong_memory_lua_shared_dict_bytes{${node}} / kong_memory_lua_shared_dict_total_bytes{${node}}`,
              legend: '{{instance}} {{shared_dict}}',
            },
          ],
        },
        {
          title: 'Heap of the workers',
          type: 'timeseries',
          unit: 'bytes',
          queries: [{ expr: `kong_memory_workers_lua_vms_bytes{${node}}`, legend: '{{instance}} {{pid}}' }],
        },
      ],
    },
    {
      title: 'Upstreams',
      panels: [
        {
          title: 'Health of the targets',
          type: 'table',
          unit: 'short',
          width: 12,
          queries: [
            {
              expr: `sum by (state, upstream, target, address) (kong_upstream_target_health{upstream=~"$upstream", ${node}}) > 0`,
            },
          ],
        },
        {
          title: 'Targets by state',
          type: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `sum by (upstream, state) (kong_upstream_target_health{upstream=~"$upstream", ${node}})`,
              legend: '{{upstream}} {{state}}',
            },
          ],
        },
      ],
    },
    {
      title: 'Connections',
      panels: [
        {
          title: 'Connections by state',
          type: 'timeseries',
          unit: 'short',
          queries: [
            {
              expr: `sum by (state) (kong_nginx_connections_total{state=~"active|reading|writing|waiting", ${node}})`,
              legend: '{{state}}',
            },
          ],
        },
        ...(['total', 'handled', 'accepted'] as const).map(
          (state): Panel => ({
            title: `${state === 'total' ? 'Requests' : `Connections ${state}`} since the start`,
            type: 'stat',
            unit: 'short',
            width: 4,
            queries: [{ expr: `sum(kong_nginx_connections_total{state="${state}", ${node}})`, legend: state }],
          }),
        ),
        {
          title: 'Database',
          description: '1 while it answers.',
          type: 'timeseries',
          unit: 'short',
          queries: [{ expr: `min by (instance) (kong_datastore_reachable{${node}})`, legend: '{{instance}}' }],
        },
        {
          title: 'Timers',
          type: 'timeseries',
          unit: 'short',
          queries: [{ expr: `kong_nginx_timers{${node}}`, legend: '{{instance}} {{state}}' }],
        },
      ],
    },
  ],
};
