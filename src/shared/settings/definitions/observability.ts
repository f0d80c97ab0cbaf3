import { boolean, duration, integer, size } from '../kinds/kinds.ts';
import { httpFormats, streamFormats } from '../kinds/log-formats.ts';
import { bearerToken, fraction, instrumentations, logFormat, statuses } from '../kinds/special-kinds.ts';
import { kong, own } from './definition.ts';

export const observability = {
  nginx_http_log_format: kong(
    logFormat(httpFormats),
    '',
    "A format for access logs, as nginx's `log_format`: a name, optionally `escape=json` or `escape=none`, and a text with variables. docs/logs.md lists the variables. An access log uses the format if its setting names it after the file.",
  ),
  nginx_stream_log_format: kong(
    logFormat(streamFormats),
    '',
    'The same for the access log of streams, which has its own variables.',
  ),
  proxy_access_log_sampling: own(fraction, '1', 'Fraction of proxied requests that are logged, 0 to 1.'),
  proxy_access_log_always: own(
    statuses,
    '5xx',
    'Statuses whose requests are always logged, regardless of `proxy_access_log_sampling`.',
  ),
  audit_log: own(boolean, 'on', 'Keep a record of each write of the Admin API: `GET /audit`.'),
  audit_retention: own(duration('s'), '30d', 'How long audit records are kept. 0: forever.'),
  config_history: own(
    integer(1, 100_000),
    '1000',
    'Maximum number of versions of the config that are kept: `GET /config/versions`, `sluicegate config rollback`. Each write of config is a version.',
  ),
  config_history_retention: own(duration('s'), '90d', 'How long versions of the config are kept. 0: forever.'),
  tracing_instrumentations: kong(
    instrumentations,
    'all',
    'What traces contain: `all`, `off`, or a list. Nothing is recorded unless a plugin needs traces.',
  ),
  tracing_sampling_rate: kong(
    fraction,
    '0.01',
    'Fraction of requests that are traced, 0 to 1, if neither the client nor the plugin decides.',
    { aliases: ['opentelemetry_tracing_sampling_rate'] },
  ),
  request_debug: kong(
    boolean,
    'on',
    'Explain requests that carry the debug token and `X-Sluicegate-Explain` or `X-Kong-Request-Debug`.',
  ),
  request_debug_token: kong(
    bearerToken,
    '',
    'The debug token. Empty: a random one at each start, in the file `request_debug_token` of the prefix.',
    { secret: true },
  ),
  traffic_recorder: own(
    integer(0, 100_000),
    '0',
    'Number of requests that the node keeps for `GET /traffic`, recorded all the time. 0: the last 1000, recorded only while somebody looks.',
  ),
  traffic_recorder_memory: own(size, '32m', 'Maximum memory for recorded requests. The oldest are dropped first.'),
  traffic_recorder_rate: own(
    integer(1, 10_000),
    '100',
    'Maximum number of requests that each worker records per second. Above it requests are sampled; up to a quarter more are recorded if they are errors.',
  ),
  traffic_recorder_bodies: own(
    integer(0, 65_536),
    '0',
    'Maximum bytes of each body that are recorded whenever the recorder is on. 0: none, unless a caller of the Admin API asks for them. Only roles that may edit see bodies.',
  ),
  analytics: own(
    boolean,
    'on',
    'Count requests by route, consumer, version, status and minute: `GET /analytics/usage`.',
  ),
  analytics_max_series: own(
    integer(100, 100_000),
    '10000',
    'Maximum number of series (combinations of route, service, consumer, version and status) that a node counts separately in a minute, an hour and a day. Further ones are counted together. Series of single consumers take at most a quarter. Each series takes up to 3.3 KB of memory in each worker.',
  ),
  analytics_retention_minutes: own(duration('s'), '2d', 'How long usage by the minute is kept. 0: forever.'),
  analytics_retention_hours: own(duration('s'), '30d', 'How long usage by the hour is kept. 0: forever.'),
  analytics_retention_days: own(duration('s'), '400d', 'How long usage by the day is kept. 0: forever.'),
} as const;
