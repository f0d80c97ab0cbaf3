import { type LogFormat, type LogFormats, type LogPart, template } from './log-format.ts';
import { checkLogVariable, checkStreamVariable, type LogVariable, type StreamVariable } from './log-variables.ts';

type Fields = readonly (readonly [name: string, variable: string, kind: 'text' | 'number'])[];

const combined = template(
  '$remote_addr - $remote_user [$time_local] "$request" $status $body_bytes_sent "$http_referer" "$http_user_agent"',
);

const httpFields = [
  ['time', 'time_iso8601', 'text'],
  ['request_id', 'request_id', 'text'],
  ['client_ip', 'remote_addr', 'text'],
  ['user', 'remote_user', 'text'],
  ['method', 'request_method', 'text'],
  ['scheme', 'scheme', 'text'],
  ['host', 'host', 'text'],
  ['uri', 'request_uri', 'text'],
  ['protocol', 'server_protocol', 'text'],
  ['status', 'status', 'number'],
  ['body_bytes_sent', 'body_bytes_sent', 'number'],
  ['request_length', 'request_length', 'number'],
  ['request_time', 'request_time', 'number'],
  ['upstream_addr', 'upstream_addr', 'text'],
  ['upstream_status', 'upstream_status', 'text'],
  ['upstream_response_time', 'upstream_response_time', 'text'],
  ['route', 'route', 'text'],
  ['service', 'service', 'text'],
  ['consumer', 'consumer', 'text'],
  ['referer', 'http_referer', 'text'],
  ['user_agent', 'http_user_agent', 'text'],
] as const satisfies readonly (readonly [string, LogVariable | `http_${string}`, 'text' | 'number'])[];

const streamFields = [
  ['time', 'time_iso8601', 'text'],
  ['client_ip', 'remote_addr', 'text'],
  ['protocol', 'protocol', 'text'],
  ['server_port', 'server_port', 'number'],
  ['server_name', 'ssl_server_name', 'text'],
  ['status', 'status', 'number'],
  ['bytes_sent', 'bytes_sent', 'number'],
  ['bytes_received', 'bytes_received', 'number'],
  ['session_time', 'session_time', 'number'],
  ['upstream_addr', 'upstream_addr', 'text'],
  ['upstream_bytes_sent', 'upstream_bytes_sent', 'number'],
  ['upstream_bytes_received', 'upstream_bytes_received', 'number'],
  ['route', 'route', 'text'],
  ['service', 'service', 'text'],
] as const satisfies readonly (readonly [string, StreamVariable, 'text' | 'number'])[];

function json(fields: Fields): LogFormat {
  const parts = fields.flatMap(([name, variable, kind], index): readonly LogPart[] => [
    { text: `${index === 0 ? '{' : ','}"${name}":` },
    { variable, json: kind },
  ]);
  return { name: 'json', escape: 'json', parts: [...parts, { text: '}' }] };
}

/** Variables of requests: to the proxy, the Admin API, the status API. */
export const httpFormats: LogFormats = {
  builtIn: [
    {
      name: 'kong_log_format',
      escape: 'default',
      parts: [...combined, ...template(' kong_request_id: "$kong_request_id"')],
    },
    { name: 'combined', escape: 'default', parts: combined },
    json(httpFields),
  ],
  setting: 'nginx_http_log_format',
  check: checkLogVariable,
};

/** Variables of streams. */
export const streamFormats: LogFormats = {
  builtIn: [
    {
      name: 'basic',
      escape: 'default',
      parts: template('$remote_addr [$time_local] $protocol $status $bytes_sent $bytes_received $session_time'),
    },
    json(streamFields),
  ],
  setting: 'nginx_stream_log_format',
  check: checkStreamVariable,
};

/** The default formats of access logs of requests and of streams. */
export const defaultFormat: LogFormat = httpFormats.builtIn[0] as LogFormat;
export const defaultStreamFormat: LogFormat = streamFormats.builtIn[0] as LogFormat;
