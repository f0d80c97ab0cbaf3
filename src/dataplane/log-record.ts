import { headerMap } from '../http1/header-block.ts';
import type { LogMask } from '../plugin-sdk/contexts.ts';
import { monotonic } from '../util/clock.ts';
import { withoutNulls } from '../util/without-nulls.ts';
import type { Exchange } from './exchange.ts';
import { isSecretArgument, isSecretHeader, maskedField, maskedTarget, redacted } from './masked-arguments.ts';
import { queryArguments } from './query-arguments.ts';
import { hostName } from './request-message.ts';
import { statusText } from './response-head.ts';

/** The log record of a finished exchange in the format of Kong's serialiser. Times are whole milliseconds. */
export function logRecord(x: Exchange): Record<string, unknown> {
  const { head, peer, consumer, credential, route, service } = x;
  const { secretArguments, logMasks } = x.plan;
  const target = maskedTarget(head.target, secretArguments, logMasks);
  return {
    request: {
      id: x.id,
      uri: target,
      url: `${peer.scheme}://${hostName(head.host)}:${peer.localPort}${target}`,
      querystring: maskedArguments(single(queryArguments(shownQuery(x, target))), secretArguments),
      method: head.method,
      headers: maskedHeaders(x, head.block),
      ...(peer.tls === null
        ? {}
        : { tls: { version: peer.tls.version, cipher: peer.tls.cipher, client_verify: 'NONE' } }),
      size: requestBytes(x),
    },
    upstream_uri: maskedTarget(x.upstreamUri, secretArguments, logMasks),
    upstream_status: upstreamStatus(x),
    response: {
      status: x.status,
      headers: maskedHeaders(x, responseBlock(x)),
      size: responseBytes(x),
    },
    latencies: latencies(x),
    ...(route === null ? {} : { tries: tries(x), route: withoutNulls(route.row) }),
    ...(service === null ? {} : { service: withoutNulls(service.row) }),
    ...(credential === null ? {} : { authenticated_entity: { id: credential.id } }),
    ...(consumer === null
      ? {}
      : {
          consumer: withoutNulls({
            id: consumer.id,
            username: consumer.username,
            custom_id: consumer.customId,
            tags: listOrNull(consumer.tags),
          }),
        }),
    client_ip: x.clientIp,
    started_at: x.startedAt,
    source: x.responseSource === 'upstream' ? 'upstream' : 'kong',
    workspace_name: 'default',
  };
}

/** Head and body of the request. */
export function requestBytes({ head, bytesReceived }: Exchange): number {
  const line = head.method.length + head.target.length + ' '.length * 2 + 'HTTP/1.1\r\n'.length;
  return line + head.block.length + 2 + bytesReceived;
}

/** Head and body of the answer. */
export function responseBytes(x: Exchange): number {
  return statusText(x.status, x.reason).length + responseBlock(x).length + 2 + x.bytesSent;
}

function responseBlock(x: Exchange): string {
  return x.responseEdits === null ? x.responseBlock : x.responseEdits.applyTo(x.responseBlock);
}

/** Every status that a backend gave or stood for, as in `502, 200`; '' when none was asked. */
function upstreamStatus(x: Exchange): string {
  const statuses = (x.failedAttempts ?? []).map((attempt) => attempt.failed);
  if (x.upstreamStatus > 0) statuses.push(x.upstreamStatus);
  return statuses.join(', ');
}

function latencies(x: Exchange): Record<string, number> {
  const now = monotonic();
  const asked = x.upstreamStartedMono > 0;
  const answered = x.firstByteMono > 0;
  return {
    request: Math.round(now - x.startedMono),
    kong: Math.round((asked ? x.upstreamStartedMono : now) - x.startedMono),
    proxy: asked ? Math.round((answered ? x.firstByteMono : now) - x.upstreamStartedMono) : -1,
    receive: answered ? Math.round(now - x.firstByteMono) : 0,
  };
}

function tries(x: Exchange): readonly Readonly<Record<string, unknown>>[] {
  const attempts: Record<string, unknown>[] = (x.failedAttempts ?? []).map(({ startedAt, ip, port, failed }) => ({
    ...attempt(startedAt, ip, port),
    state: 'failed',
    code: failed,
  }));
  if (x.target !== null && x.tries > attempts.length) {
    attempts.push(attempt(x.attemptStartedAt, x.targetIp, x.targetPort));
  }
  return attempts;
}

function attempt(startedAt: number, ip: string, port: number): Record<string, unknown> {
  const balancerStart = Math.floor(startedAt);
  return { balancer_start: balancerStart, balancer_start_ns: balancerStart * 1e6, ip, port };
}

function listOrNull(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list;
}

/** A name with one value has the value itself. */
function single<T>(map: Readonly<Record<string, readonly T[]>>): Record<string, T | readonly T[] | undefined> {
  const result: Record<string, T | readonly T[] | undefined> = Object.create(null);
  for (const [name, values] of Object.entries(map)) result[name] = values.length === 1 ? values[0] : values;
  return result;
}

/** Headers by lower-case name, without what logs must not show. */
export function maskedHeaders(x: Exchange, block: string): Record<string, string | readonly string[] | undefined> {
  const { secretArguments, secretHeaders, logMasks } = x.plan;
  const result = single(headerMap(block));
  for (const [name, value] of Object.entries(result)) {
    if (isSecretHeader(name, secretHeaders)) result[name] = redacted;
    else if (name === 'referer') {
      result[name] = maskedField(name, maskedTarget(String(value), secretArguments, logMasks), logMasks);
    } else if (logMasks.length > 0) result[name] = maskedValues(name, value ?? '', logMasks);
  }
  return result;
}

function maskedValues(name: string, value: string | readonly string[], masks: readonly LogMask[]): string | string[] {
  return typeof value === 'string'
    ? maskedField(name, value, masks)
    : value.map((one) => maskedField(name, one, masks));
}

/** The query that arguments are shown of; `target` is masked already. */
function shownQuery(x: Exchange, target: string): string {
  return x.plan.logMasks.length === 0 ? x.head.query : target.slice(target.indexOf('?') + 1 || target.length);
}

function maskedArguments<T>(found: Record<string, T>, own: ReadonlySet<string>): Record<string, T | string> {
  const result: Record<string, T | string> = found;
  for (const name of Object.keys(result)) {
    if (isSecretArgument(name, own)) result[name] = redacted;
  }
  return result;
}
