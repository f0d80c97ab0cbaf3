import { boolean, type Infer, integer, record } from '../../plugin-sdk/schema.ts';

export const config = record({
  per_consumer: boolean({
    default: false,
    description:
      'Sets the label `consumer` of requests and bytes to the username. If off, the label is empty. Each consumer multiplies the series.',
  }),
  status_code_metrics: boolean({
    default: false,
    description:
      'Counts requests by service, route, status and source: `kong_http_requests_total`, `kong_stream_sessions_total`.',
  }),
  ai_metrics: boolean({
    default: false,
    description: 'Accepted for compatibility with Kong and ignored: there are no such metrics.',
  }),
  latency_metrics: boolean({
    default: false,
    description:
      'Histograms of times by service and route: `kong_kong_latency_ms`, `kong_upstream_latency_ms`, `kong_request_latency_ms`, `kong_session_duration_ms`.',
  }),
  bandwidth_metrics: boolean({
    default: false,
    description: 'Counts bytes by service, route and direction: `kong_bandwidth_bytes`.',
  }),
  upstream_health_metrics: boolean({
    default: false,
    description: 'State of each address of each target of all upstreams: `kong_upstream_target_health`.',
  }),
  max_series: integer({
    required: true,
    default: 30_000,
    between: [100, 1_000_000],
    description:
      'Maximum number of series of each kind (requests, times, bytes). Further ones are counted under the label `overflow`. Instances with the same number share the space. A change begins at 0.',
  }),
});

export type PrometheusConfig = Infer<typeof config>;
