import { boolean, duration, integer } from '../kinds.ts';
import { httpFormats, streamFormats } from '../log-formats.ts';
import { bearerToken, fraction, instrumentations, logFormat, statuses } from '../special-kinds.ts';
import { kong, own } from './definition.ts';

export const observability = {
  nginx_http_log_format: kong(
    logFormat(httpFormats),
    '',
    "A format for access logs, as nginx's `log_format`: a name, `escape=json` or `escape=none` if wanted, and a text with variables. docs/logs.md lists them. An access log has it when its setting names it behind the file.",
  ),
  nginx_stream_log_format: kong(
    logFormat(streamFormats),
    '',
    'The same for the access log of streams, with variables of its own.',
  ),
  proxy_access_log_sampling: own(fraction, '1', 'The share of proxied requests that have a line in the access log.'),
  proxy_access_log_always: own(
    statuses,
    '5xx',
    'Statuses whose requests have a line whatever `proxy_access_log_sampling` says.',
  ),
  audit_log: own(
    boolean,
    'on',
    'Whether each write of the Admin API leaves a record of who changed what: `GET /audit`.',
  ),
  audit_retention: own(duration('s'), '30d', 'How long records of who changed what are kept; 0 is for ever.'),
  tracing_instrumentations: kong(
    instrumentations,
    'all',
    'What traces show: `all`, `off`, or a list. Nothing is recorded unless a plugin asks for traces.',
  ),
  tracing_sampling_rate: kong(
    fraction,
    '0.01',
    'The share of requests that have a trace, from 0 to 1, where neither the client nor the plugin decides.',
    { aliases: ['opentelemetry_tracing_sampling_rate'] },
  ),
  request_debug: kong(
    boolean,
    'on',
    'Requests that carry the debug token and `X-Sluicegate-Explain` or `X-Kong-Request-Debug` are told what happened to them.',
  ),
  request_debug_token: kong(
    bearerToken,
    '',
    'The debug token. None: a random one at each start, in the file `request_debug_token` of the prefix.',
    { secret: true },
  ),
  analytics: own(
    boolean,
    'on',
    'Whether requests are counted by route, consumer, version, status and minute: `GET /analytics/usage`.',
  ),
  analytics_max_series: own(
    integer(100, 100_000),
    '10000',
    'Combinations of route, service, consumer, version and status that a node tells apart in a minute, an hour and a day; those beyond are counted together. Single consumers have a quarter of them at most. Each takes up to 3.3 KB of memory in each worker.',
  ),
  analytics_retention_minutes: own(duration('s'), '2d', 'How long usage is kept by the minute; 0 is for ever.'),
  analytics_retention_hours: own(duration('s'), '30d', 'How long usage is kept by the hour; 0 is for ever.'),
  analytics_retention_days: own(duration('s'), '400d', 'How long usage is kept by the day; 0 is for ever.'),
} as const;
