import { suggest } from '../../util/suggest.ts';
import { SettingsError } from '../settings-error.ts';

/** Variables of nginx and Kong in formats of access logs, and some of the gateway's own. */
export const logVariables = [
  'api_version',
  'args',
  'body_bytes_sent',
  'bytes_sent',
  'connection',
  'connection_requests',
  'consumer',
  'consumer_custom_id',
  'consumer_id',
  'consumer_username',
  'content_length',
  'content_type',
  'credential_id',
  'document_uri',
  'host',
  'hostname',
  'http2',
  'https',
  'is_args',
  'kong_latency',
  'kong_request_id',
  'msec',
  'pid',
  'query_string',
  'realip_remote_addr',
  'realip_remote_port',
  'remote_addr',
  'remote_port',
  'remote_user',
  'request',
  'request_completion',
  'request_id',
  'request_length',
  'request_method',
  'request_time',
  'request_uri',
  'response_source',
  'route',
  'route_id',
  'route_name',
  'scheme',
  'server_addr',
  'server_name',
  'server_port',
  'server_protocol',
  'service',
  'service_id',
  'service_name',
  'ssl_cipher',
  'ssl_protocol',
  'ssl_server_name',
  'status',
  'time_iso8601',
  'time_local',
  'upstream_addr',
  'upstream_header_time',
  'upstream_host',
  'upstream_response_time',
  'upstream_scheme',
  'upstream_status',
  'upstream_tries',
  'upstream_uri',
  'uri',
] as const;

export type LogVariable = (typeof logVariables)[number];

/** Prefixes of variables with a name from the client or backend: `http_user_agent`, `arg_page`. */
export const logVariablePrefixes = ['upstream_http_', 'sent_http_', 'http_', 'arg_'] as const;

export type LogVariablePrefix = (typeof logVariablePrefixes)[number];

const known: ReadonlySet<string> = new Set(logVariables);

export function isLogVariable(name: string): name is LogVariable {
  return known.has(name);
}

/** `http_` and `user_agent` of `http_user_agent`; null when it has no such prefix. */
export function prefixedVariable(name: string): { readonly prefix: LogVariablePrefix; readonly rest: string } | null {
  const prefix = logVariablePrefixes.find((each) => name.startsWith(each) && name.length > each.length);
  return prefix === undefined ? null : { prefix, rest: name.slice(prefix.length) };
}

/** Variables of streams. */
export const streamVariables = [
  'bytes_received',
  'bytes_sent',
  'hostname',
  'msec',
  'pid',
  'protocol',
  'remote_addr',
  'remote_port',
  'route',
  'route_id',
  'route_name',
  'server_addr',
  'server_port',
  'service',
  'service_id',
  'service_name',
  'session_time',
  'ssl_cipher',
  'ssl_preread_server_name',
  'ssl_protocol',
  'ssl_server_name',
  'status',
  'time_iso8601',
  'time_local',
  'upstream_addr',
  'upstream_bytes_received',
  'upstream_bytes_sent',
] as const;

export type StreamVariable = (typeof streamVariables)[number];

export function isStreamVariable(name: string): name is StreamVariable {
  return (streamVariables as readonly string[]).includes(name);
}

/** Throws a `SettingsError` that names the variable when requests do not have it. */
export function checkLogVariable(setting: string, name: string): void {
  if (isLogVariable(name) || prefixedVariable(name) !== null) return;
  if (name.startsWith('cookie_')) {
    throw new SettingsError(`${setting}: $${name} is not available: cookies are credentials and are never logged`);
  }
  throw unknown(setting, name, logVariables);
}

/** The same for streams. */
export function checkStreamVariable(setting: string, name: string): void {
  if (!isStreamVariable(name)) throw unknown(setting, name, streamVariables);
}

function unknown(setting: string, name: string, all: readonly string[]): SettingsError {
  const near = suggest(name, all);
  return new SettingsError(
    `${setting}: there is no variable $${name}${near === null ? ' (docs/logs.md lists them)' : `; did you mean $${near}?`}`,
  );
}
