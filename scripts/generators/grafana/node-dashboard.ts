import type { Dashboard, Panel, Query } from './panels.ts';

const node = 'instance=~"$instance"';
const scope = `service=~"$service", ${node}`;
const interval = '[$__rate_interval]';

function chart(title: string, unit: string, queries: readonly Query[], description?: string): Panel {
  return { title, type: 'timeseries', unit, queries, width: 8, ...(description === undefined ? {} : { description }) };
}

function perSecond(title: string, metric: string, by: string, description?: string): Panel {
  const legend = by
    .split(', ')
    .map((label) => `{{${label}}}`)
    .join(' ');
  return chart(title, 'cps', [{ expr: `sum by (${by}) (rate(${metric}${interval}))`, legend }], description);
}

function quantile(part: string, metric: string): Query {
  return {
    expr: `histogram_quantile(${part}, sum by (service, le) (rate(${metric}_bucket{${scope}}${interval})))`,
    legend: '{{service}}',
  };
}

export const nodeDashboard: Dashboard = {
  uid: 'sluicegate-node',
  title: 'Sluicegate',
  description: 'Rate, errors and duration of each service; limits, circuits, caches, workers and logs.',
  variables: [
    { name: 'instance', metric: 'sluicegate_workers' },
    { name: 'service', metric: 'kong_http_requests_total' },
  ],
  rows: [
    {
      title: 'Services: rate, errors, duration',
      panels: [
        chart('Requests per second', 'reqps', [
          { expr: `sum by (service) (rate(kong_http_requests_total{${scope}}${interval}))`, legend: '{{service}}' },
        ]),
        chart(
          'Fraction of requests that failed',
          'percentunit',
          [
            {
              expr: `sum by (service) (rate(kong_http_requests_total{code=~"5..", ${scope}}${interval})) / sum by (service) (rate(kong_http_requests_total{${scope}}${interval}))`,
              legend: '{{service}}',
            },
          ],
          'Answers with 5xx.',
        ),
        chart('Duration, p95', 'ms', [quantile('0.95', 'kong_request_latency_ms')]),
        chart(
          'Refused by the gateway, per second',
          'reqps',
          [
            {
              expr: `sum by (service, code) (rate(kong_http_requests_total{source="kong", code!~"2..", ${scope}}${interval}))`,
              legend: '{{service}} {{code}}',
            },
          ],
          '401 and 403: authentication and authorization. 429: limits. 503: circuits and overload.',
        ),
        chart('Time in the gateway, p99', 'ms', [quantile('0.99', 'kong_kong_latency_ms')]),
        chart('Time of the backend, p99', 'ms', [quantile('0.99', 'kong_upstream_latency_ms')]),
      ],
    },
    {
      title: 'Limits, circuits and caches',
      panels: [
        chart('Requests over a limit, per second', 'reqps', [
          {
            expr: `sum by (service) (rate(kong_http_requests_total{code="429", ${scope}}${interval}))`,
            legend: '{{service}}',
          },
        ]),
        chart(
          'Circuits',
          'short',
          [{ expr: `max by (name, kind) (sluicegate_circuit_state{${node}})`, legend: '{{kind}} {{name}}' }],
          '0 closed, 1 closed for a growing fraction of the calls, 2 half open, 3 open.',
        ),
        chart('Cache hits', 'percentunit', [
          {
            expr: `sum by (plugin) (rate(sluicegate_zone_hits_total{${node}}${interval})) / (sum by (plugin) (rate(sluicegate_zone_hits_total{${node}}${interval})) + sum by (plugin) (rate(sluicegate_zone_misses_total{${node}}${interval})))`,
            legend: '{{plugin}}',
          },
        ]),
        chart('Entries in zones', 'short', [
          { expr: `sum by (plugin, zone) (sluicegate_zone_entries{${node}})`, legend: '{{plugin}} {{zone}}' },
        ]),
        perSecond(
          'Entries evicted early, per second',
          `sluicegate_zone_evictions_total{${node}}`,
          'plugin, zone',
          'The zone is too small.',
        ),
        perSecond('Events of plugins, per second', `sluicegate_plugin_events_total{${node}}`, 'plugin, event'),
      ],
    },
    {
      title: 'Workers',
      panels: [
        chart(
          'Event loop: how busy each worker is',
          'percentunit',
          [
            {
              expr: `rate(sluicegate_worker_loop_seconds_total{state="active", ${node}}${interval})`,
              legend: '{{instance}} {{worker}}',
            },
          ],
          'Requests wait at 100 %.',
        ),
        chart(
          'Event loop: delay, p99',
          's',
          [{ expr: `max by (instance) (sluicegate_worker_loop_delay_seconds{${node}})`, legend: '{{instance}}' }],
          'Of the slowest worker of each node: how late its timers run.',
        ),
        chart('Requests in flight', 'short', [
          { expr: `sum by (instance) (sluicegate_requests_in_flight{${node}})`, legend: '{{instance}}' },
        ]),
        chart('Workers', 'short', [
          { expr: `sum by (instance, state) (sluicegate_workers{${node}})`, legend: '{{instance}} {{state}}' },
        ]),
        chart('Workers replaced in an hour', 'short', [
          {
            expr: `sum by (instance) (increase(sluicegate_worker_restarts_total{${node}}[1h]))`,
            legend: '{{instance}} died',
          },
          {
            expr: `sum by (instance) (increase(sluicegate_worker_stuck_total{${node}}[1h]))`,
            legend: '{{instance}} stuck',
          },
        ]),
        perSecond('Refused because of overload, per second', `sluicegate_shed_requests_total{${node}}`, 'instance'),
        perSecond('Malformed requests, per second', `sluicegate_bad_requests_total{${node}}`, 'instance'),
        chart(
          'CPU',
          'short',
          [{ expr: `rate(process_cpu_seconds_total{job="sluicegate", ${node}}${interval})`, legend: '{{instance}}' }],
          'Cores in use.',
        ),
        chart('Memory', 'bytes', [
          { expr: `process_resident_memory_bytes{job="sluicegate", ${node}}`, legend: '{{instance}}' },
        ]),
        chart('File descriptors in use', 'percentunit', [
          {
            expr: `process_open_fds{job="sluicegate", ${node}} / process_max_fds{job="sluicegate", ${node}}`,
            legend: '{{instance}}',
          },
        ]),
        chart('Client connections', 'short', [
          { expr: `sum by (instance) (kong_nginx_connections_total{state="active", ${node}})`, legend: '{{instance}}' },
        ]),
      ],
    },
    {
      title: 'Backends',
      panels: [
        perSecond('Retries per second', `sluicegate_retries_total{${node}}`, 'instance'),
        perSecond('Failed attempts per second', `sluicegate_upstream_connections_failed_total{${node}}`, 'instance'),
        chart('Requests on a kept connection', 'percentunit', [
          {
            expr: `sum by (instance) (rate(sluicegate_upstream_requests_reused_total{${node}}${interval})) / (sum by (instance) (rate(sluicegate_upstream_requests_reused_total{${node}}${interval})) + sum by (instance) (rate(sluicegate_upstream_connections_opened_total{${node}}${interval})))`,
            legend: '{{instance}}',
          },
        ]),
        chart('Targets without requests', 'short', [
          {
            expr: `sum by (upstream) (max by (upstream, target, address) (kong_upstream_target_health{state=~"unhealthy|dns_error", ${node}}))`,
            legend: '{{upstream}}',
          },
        ]),
        perSecond('Name resolution, events per second', `sluicegate_dns_events_total{${node}}`, 'event'),
        chart('Names in use', 'short', [
          { expr: `sum by (instance) (sluicegate_dns_names{${node}})`, legend: '{{instance}}' },
        ]),
      ],
    },
    {
      title: 'Config and logs',
      panels: [
        chart('Version of the config', 'none', [
          { expr: `max by (instance) (sluicegate_config_version{${node}})`, legend: '{{instance}}' },
        ]),
        chart(
          'Age of the config',
          's',
          [{ expr: `max by (instance) (sluicegate_config_age_seconds{${node}})`, legend: '{{instance}}' }],
          'Time since the node last knew that it has everything: some seconds while it reaches the database.',
        ),
        chart('Entities that cannot be used', 'short', [
          { expr: `max by (instance) (sluicegate_config_failures{${node}})`, legend: '{{instance}}' },
        ]),
        chart(
          'Database',
          'short',
          [{ expr: `min by (instance) (kong_datastore_reachable{${node}})`, legend: '{{instance}}' }],
          '1 while it answers.',
        ),
        perSecond('Lost log lines per second', `sluicegate_log_lines_dropped_total{${node}}`, 'instance'),
        perSecond(
          'Requests missing in analytics, per second',
          `sluicegate_analytics_dropped_requests_total{${node}}`,
          'instance',
        ),
        perSecond('Series over max_series, per second', `kong_nginx_metric_errors_total{${node}}`, 'instance'),
      ],
    },
  ],
};
