import type { AccessEntry } from '../../control/admin/admin-log.ts';
import { compileFormat, type Formatter, type Variable } from '../../shared/logs/access-log.ts';
import { argument } from '../../shared/logs/log-argument.ts';
import { isoTime, localTime, seconds } from '../../shared/logs/log-times.ts';
import { isSecretHeader, maskedTarget, redacted } from '../../shared/logs/masked-arguments.ts';
import type { LogFormat } from '../../shared/settings/kinds/log-format.ts';
import { prefixedVariable } from '../../shared/settings/kinds/log-variables.ts';
import { hostName } from '../../shared/util/net/host-header.ts';

/** Writes lines of the access log of the Admin API and the status API. Variables that only proxied requests have are empty. */
export function adminFormatter(format: LogFormat): Formatter<AccessEntry> {
  return compileFormat(format, { variable });
}

type Read = (entry: AccessEntry) => string | null;

const own: ReadonlySet<string> = new Set(['kong-admin-token', 'set-cookie']);
const noArguments: ReadonlySet<string> = new Set();

const target = ({ url }: AccessEntry): string => maskedTarget(url, noArguments);
const protocol = ({ httpVersion }: AccessEntry): string => `HTTP/${httpVersion}`;

const variables: Readonly<Record<string, Read>> = {
  args: query,
  body_bytes_sent: ({ bodyBytesSent }) => `${bodyBytesSent}`,
  content_length: (entry) => entry.header('content-length'),
  content_type: (entry) => entry.header('content-type'),
  document_uri: path,
  host: hostOf,
  https: ({ scheme }) => (scheme === 'https' ? 'on' : ''),
  kong_request_id: ({ requestId }) => requestId,
  msec: ({ time }) => seconds(time),
  query_string: query,
  realip_remote_addr: ({ remoteAddr }) => remoteAddr,
  remote_addr: ({ remoteAddr }) => remoteAddr,
  remote_port: ({ remotePort }) => `${remotePort}`,
  request: (entry) => `${entry.method} ${target(entry)} ${protocol(entry)}`,
  request_id: ({ requestId }) => requestId,
  request_method: ({ method }) => method,
  request_time: ({ duration }) => seconds(duration),
  request_uri: target,
  response_source: () => 'kong',
  scheme: ({ scheme }) => scheme,
  server_addr: ({ localAddr }) => localAddr,
  server_port: ({ localPort }) => `${localPort}`,
  server_protocol: protocol,
  status: ({ status }) => `${status}`,
  time_iso8601: ({ time }) => isoTime(time),
  time_local: ({ time }) => localTime(time),
  uri: path,
};

function variable(name: string): Variable<AccessEntry> {
  const read = variables[name];
  if (read !== undefined) return { read };
  const found = prefixedVariable(name);
  if (found === null) return { read: () => null };
  const header = found.rest.replaceAll('_', '-').toLowerCase();
  if (found.prefix === 'http_') return { read: (entry) => masked(header, entry.header(header)) };
  if (found.prefix === 'sent_http_') return { read: (entry) => masked(header, entry.sentHeader(header)) };
  if (found.prefix === 'arg_') return { read: (entry) => argument(query(entry), found.rest) };
  return { read: () => null };
}

function masked(name: string, value: string | null): string | null {
  if (value === null) return null;
  if (isSecretHeader(name, own)) return redacted;
  return name === 'referer' ? maskedTarget(value, noArguments) : value;
}

/** Without the port, as in lines of the proxy. */
function hostOf(entry: AccessEntry): string | null {
  const host = entry.header('host') ?? entry.header(':authority');
  return host === null ? null : hostName(host);
}

function path({ url }: AccessEntry): string {
  const mark = url.indexOf('?');
  return mark < 0 ? url : url.slice(0, mark);
}

function query(entry: AccessEntry): string {
  const shown = target(entry);
  const mark = shown.indexOf('?');
  return mark < 0 ? '' : shown.slice(mark + 1);
}
