import { hostname } from 'node:os';
import { headerValue } from '../../shared/http/header-block.ts';
import type { Variable } from '../../shared/logs/access-log.ts';
import { argument } from '../../shared/logs/log-argument.ts';
import { isoTime, localTime, seconds } from '../../shared/logs/log-times.ts';
import { maskedTarget, shownField } from '../../shared/logs/masked-arguments.ts';
import {
  isLogVariable,
  type LogVariable,
  type LogVariablePrefix,
  prefixedVariable,
} from '../../shared/settings/kinds/log-variables.ts';
import { utf8AsLatin1 } from '../../shared/util/bytes/latin1.ts';
import { hostName } from '../../shared/util/net/host-header.ts';
import {
  remoteUser,
  upstreamAddresses,
  upstreamHeaderTimes,
  upstreamStatuses,
  upstreamTimes,
} from '../attempt/upstream-fields.ts';
import { type Exchange, endOf } from '../request/exchange.ts';
import { requestBytes, responseBytes } from './log-record.ts';
import { sentBlock } from './response-head.ts';

type Read = (x: Exchange) => string | null;

/** The value of a variable of a log format. Secrets are masked. */
export function exchangeVariable(name: string): Variable<Exchange> {
  if (isLogVariable(name)) return variables[name];
  const found = prefixedVariable(name);
  if (found === null) throw new Error(`there is no variable $${name}`);
  return prefixed[found.prefix](found.rest);
}

/** Never contains a character that must be escaped. */
const clean = (read: Read): Variable<Exchange> => ({ read, clean: true });
const given = (read: Read): Variable<Exchange> => ({ read });
const beyondAscii = /[^\x00-\x7f]/;

/** A name in the config, which may contain any character. */
const named = (read: Read): Variable<Exchange> => ({
  read: (x) => {
    const name = read(x);
    return name !== null && beyondAscii.test(name) ? utf8AsLatin1(name) : name;
  },
});

function target({ head, plan }: Exchange): string {
  return head.hasQuery ? maskedTarget(head.target, plan.secretArguments, plan.logMasks) : head.target;
}

function query(x: Exchange): string {
  const shown = target(x);
  const mark = shown.indexOf('?');
  return mark < 0 ? '' : shown.slice(mark + 1);
}

function protocol({ head }: Exchange): string {
  if (head.httpVersion === '1.1') return 'HTTP/1.1';
  return head.httpVersion === '2' ? 'HTTP/2.0' : 'HTTP/1.0';
}

/** Methods are tokens: only the target can contain characters that must be escaped. */
const request: Variable<Exchange> = {
  read: (x) => `${x.head.method} ${target(x)} ${protocol(x)}`,
  write: (x, harmless) => `${x.head.method} ${harmless(target(x))} ${protocol(x)}`,
};

const path: Read = (x) => (x.path === '' ? x.head.rawPath : x.path);
const id: Read = (x) => x.id;
const host = hostname();
const pid = String(process.pid);

const variables: Readonly<Record<LogVariable, Variable<Exchange>>> = {
  api_version: named((x) => x.apiVersion),
  args: given(query),
  body_bytes_sent: clean((x) => `${x.bytesSent}`),
  bytes_sent: clean((x) => `${responseBytes(x)}`),
  connection: clean((x) => `${x.peer.serial}`),
  connection_requests: clean((x) => `${x.peer.requests}`),
  consumer: named(({ consumer }) => consumer?.username ?? consumer?.customId ?? consumer?.id ?? null),
  consumer_custom_id: named((x) => x.consumer?.customId ?? null),
  consumer_id: clean((x) => x.consumer?.id ?? null),
  consumer_username: named((x) => x.consumer?.username ?? null),
  content_length: headerOf('content-length'),
  content_type: headerOf('content-type'),
  credential_id: named((x) => x.credential?.id ?? null),
  document_uri: given(path),
  host: given((x) => hostName(x.head.host)),
  hostname: given(() => host),
  http2: clean((x) => (x.head.httpVersion !== '2' ? '' : x.peer.scheme === 'https' ? 'h2' : 'h2c')),
  https: clean((x) => (x.peer.scheme === 'https' ? 'on' : '')),
  is_args: clean((x) => (x.head.hasQuery ? '?' : '')),
  kong_latency: clean((x) => {
    const asked = x.upstreamStartedMono;
    return `${Math.round((asked > 0 ? asked : endOf(x)) - x.startedMono)}`;
  }),
  kong_request_id: clean(id),
  msec: clean((x) => seconds(x.startedAt)),
  pid: clean(() => pid),
  query_string: given(query),
  realip_remote_addr: clean((x) => x.peer.peerIp),
  realip_remote_port: clean((x) => `${x.peer.peerPort}`),
  remote_addr: clean((x) => x.clientIp),
  remote_port: clean((x) => `${x.peer.peerPort}`),
  remote_user: named(remoteUser),
  request,
  request_completion: clean((x) => (x.clientAborted ? '' : 'OK')),
  request_id: clean(id),
  request_length: clean((x) => `${requestBytes(x)}`),
  request_method: clean((x) => x.head.method),
  request_time: clean((x) => seconds(endOf(x) - x.startedMono)),
  request_uri: given(target),
  response_source: clean((x) => (x.responseSource === 'upstream' ? 'upstream' : 'kong')),
  route: named((x) => x.route?.name ?? x.route?.id ?? null),
  route_id: clean((x) => x.route?.id ?? null),
  route_name: named((x) => x.route?.name ?? null),
  scheme: clean((x) => x.peer.scheme),
  server_addr: clean((x) => x.peer.localIp),
  server_name: clean(() => 'kong'),
  server_port: clean((x) => `${x.peer.localPort}`),
  server_protocol: clean(protocol),
  service: named((x) => x.service?.name ?? x.service?.id ?? null),
  service_id: clean((x) => x.service?.id ?? null),
  service_name: named((x) => x.service?.name ?? null),
  ssl_cipher: given((x) => x.peer.tls?.cipher ?? null),
  ssl_protocol: clean((x) => x.peer.tls?.version ?? null),
  ssl_server_name: given((x) => x.peer.sni),
  status: clean((x) => `${x.status}`),
  time_iso8601: clean((x) => isoTime(x.startedAt)),
  time_local: clean((x) => localTime(x.startedAt)),
  upstream_addr: clean(upstreamAddresses),
  upstream_header_time: clean(upstreamHeaderTimes),
  upstream_host: named((x) => x.service?.host ?? null),
  upstream_response_time: clean(upstreamTimes),
  upstream_scheme: clean((x) => x.service?.protocol ?? null),
  upstream_status: clean(upstreamStatuses),
  upstream_tries: clean((x) => `${x.tries}`),
  upstream_uri: given((x) => maskedTarget(x.upstreamUri, x.plan.secretArguments, x.plan.logMasks)),
  uri: given(path),
};

const prefixed: Readonly<Record<LogVariablePrefix, (rest: string) => Variable<Exchange>>> = {
  arg_: (name) => given((x) => argument(query(x), name)),
  http_: (name) => headerOf(name.replaceAll('_', '-').toLowerCase()),
  sent_http_: (rest) => answerHeader(rest, sentBlock),
  upstream_http_: (rest) => answerHeader(rest, (x) => (x.responseSource === 'upstream' ? x.responseBlock : '')),
};

/** A field of the request, name in lower case, as logs may show it. */
function headerOf(name: string): Variable<Exchange> {
  const read: Read = ({ head, plan }) => {
    const value = headerValue(head.block, name);
    return value === null ? null : shownField(name, value, plan);
  };
  return { read, ofHead: true };
}

function answerHeader(rest: string, block: (x: Exchange) => string): Variable<Exchange> {
  const name = rest.replaceAll('_', '-').toLowerCase();
  return given((x) => {
    const value = headerValue(block(x), name);
    return value === null ? null : shownField(name, value, x.plan);
  });
}
