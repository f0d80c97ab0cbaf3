import type { ConsumerView, RequestMeasures } from '../../plugin-sdk/request-views.ts';
import { eachHeader } from '../../shared/http/header-block.ts';
import { isSecretArgument, maskedTarget, redacted, shownField } from '../../shared/logs/masked-arguments.ts';
import { utf8FromLatin1 } from '../../shared/util/bytes/latin1.ts';
import { hostName } from '../../shared/util/net/host-header.ts';
import { cachedOmitNulls, omitNulls } from '../../shared/util/omit-nulls.ts';
import { type Exchange, endOf } from '../request/exchange.ts';
import { queryArguments } from '../request/query-arguments.ts';
import { sentBlock, statusText } from './response-head.ts';
import { shownRouteRow } from './route-row.ts';

/**
 * The log record of a finished exchange in the format of Kong's serialiser. Times are whole milliseconds. `now`: its end, monotonic
 * clock. `recordText` writes the same record without building it.
 */
export function logRecord(x: Exchange, now: number): Record<string, unknown> {
  const { consumer, credential, route, service } = x;
  const block = sentBlock(x);
  const record: Record<string, unknown> = {
    request: requestPart(x),
    upstream_uri: utf8FromLatin1(maskedTarget(x.upstreamUri, x.plan.secretArguments, x.plan.logMasks)),
    upstream_status: upstreamStatus(x),
    response: { status: x.status, headers: maskedHeaders(x, block), size: bytesWith(x, block) },
    latencies: latencies(x, now),
    client_ip: x.clientIp,
    started_at: x.startedAt,
    source: x.responseSource === 'upstream' ? 'upstream' : 'kong',
    workspace: 'default',
    workspace_name: 'default',
  };
  if (route !== null) {
    record['tries'] = tries(x);
    record['route'] = shownRouteRow(route, x.plan);
  }
  if (service !== null) record['service'] = cachedOmitNulls(service.row);
  if (credential !== null) record['authenticated_entity'] = entityPart(credential.id, consumer);
  if (consumer !== null) record['consumer'] = consumerPart(consumer);
  return record;
}

function requestPart(x: Exchange): Record<string, unknown> {
  const { head, peer } = x;
  const { secretArguments, logMasks } = x.plan;
  const target = maskedTarget(head.target, secretArguments, logMasks);
  const uri = utf8FromLatin1(target);
  const part: Record<string, unknown> = {
    id: x.id,
    uri,
    url: `${peer.scheme}://${hostName(head.host)}:${peer.localPort}${uri}`,
    querystring: shownArguments(shownQuery(x, target), secretArguments),
    method: head.method,
    headers: maskedHeaders(x, head.block),
    size: requestBytes(x),
  };
  if (peer.tls !== null) {
    part['tls'] = { version: peer.tls.version, cipher: peer.tls.cipher, client_verify: 'NONE' };
  }
  return part;
}

export function consumerPart({ id, username, customId, tags }: ConsumerView): Record<string, unknown> {
  return omitNulls({ id, username, custom_id: customId, tags: listOrNull(tags) });
}

function entityPart(id: string | null, consumer: ConsumerView | null): Record<string, unknown> {
  return omitNulls({ id, consumer_id: consumer?.id ?? null });
}

/** Head and body of the request. */
export function requestBytes({ head, bytesReceived }: Exchange): number {
  const line = head.method.length + head.target.length + ' '.length * 2 + 'HTTP/1.1\r\n'.length;
  return line + head.block.length + 2 + bytesReceived;
}

/** Head and body of the answer. */
export function responseBytes(x: Exchange): number {
  const lines = x.sentSize > 0 ? x.sentSize : sentBlock(x).length;
  return statusText(x.status, x.reason).length + lines + 2 + x.bytesSent;
}

/** The same; `block`: its header lines. */
export function bytesWith(x: Exchange, block: string): number {
  return statusText(x.status, x.reason).length + block.length + 2 + x.bytesSent;
}

/** The status of each attempt, as in `502, 200`; '' without an attempt. */
export function upstreamStatus(x: Exchange): string {
  if (x.failedAttempts === null) return x.upstreamStatus > 0 ? String(x.upstreamStatus) : '';
  const statuses = x.failedAttempts.map((attempt) => attempt.failed);
  if (x.upstreamStatus > 0) statuses.push(x.upstreamStatus);
  return statuses.join(', ');
}

export interface Latencies {
  readonly request: number;
  readonly kong: number;
  readonly proxy: number;
  readonly receive: number;
}

export function latencies(x: Exchange, now: number): Latencies {
  const asked = x.upstreamStartedMono > 0;
  const answered = x.firstByteMono > 0;
  return {
    request: Math.round(now - x.startedMono),
    kong: Math.round((asked ? x.upstreamStartedMono : now) - x.startedMono),
    proxy: asked ? Math.round((answered ? x.firstByteMono : now) - x.upstreamStartedMono) : -1,
    receive: answered ? Math.round(now - x.firstByteMono) : 0,
  };
}

/** An attempt in the record. */
export interface RecordedAttempt {
  readonly balancer_start: number;
  readonly balancer_start_ns: number;
  readonly ip: string;
  readonly port: number;
  /** Absent unless it failed. */
  readonly state?: 'failed';
  readonly code?: number;
}

export function tries(x: Exchange): readonly RecordedAttempt[] {
  const attempts: RecordedAttempt[] = [];
  for (const { startedAt, ip, port, failed } of x.failedAttempts ?? []) {
    attempts.push({ ...attempt(startedAt, ip, port), state: 'failed', code: failed });
  }
  if (x.target !== null && x.tries > attempts.length) {
    attempts.push(attempt(x.attemptStartedAt, x.targetIp, x.targetPort));
  }
  return attempts;
}

function attempt(startedAt: number, ip: string, port: number): RecordedAttempt {
  const balancerStart = Math.floor(startedAt);
  return { balancer_start: balancerStart, balancer_start_ns: balancerStart * 1e6, ip, port };
}

function listOrNull(list: readonly string[]): readonly string[] | null {
  return list.length === 0 ? null : list;
}

/** A name with one value has the value itself. Values that are UTF-8 are decoded. */
export function maskedHeaders(
  { plan }: Pick<Exchange, 'plan'>,
  block: string,
): Readonly<Record<string, string | readonly string[]>> {
  const result: Record<string, string | string[]> = Object.create(null);
  eachHeader(block, (name, value) => {
    const shown = utf8FromLatin1(shownField(name, value, plan));
    const known = result[name];
    if (known === undefined) result[name] = shown;
    else if (typeof known !== 'string') known.push(shown);
    else if (known !== redacted || shown !== redacted) result[name] = [known, shown];
  });
  return result;
}

/** The query whose arguments are shown; `target` is masked already. */
export function shownQuery(x: Exchange, target: string): string {
  return x.plan.logMasks.length === 0 ? x.head.query : target.slice(target.indexOf('?') + 1 || target.length);
}

/** Decoded arguments by name; those that carry credentials are masked. */
export function shownArguments(query: string, own: ReadonlySet<string>): Readonly<Record<string, unknown>> {
  const result: Record<string, unknown> = Object.create(null);
  if (query === '') return result;
  for (const [name, values] of Object.entries(queryArguments(query))) {
    if (isSecretArgument(name, own)) result[name] = redacted;
    else result[name] = values.length === 1 ? values[0] : values;
  }
  return result;
}

/** Measurements of an exchange; one that goes on ends, for them, when this object is made. */
export class ExchangeMeasures implements RequestMeasures {
  readonly #exchange: Exchange;
  readonly #ended: number;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#ended = endOf(exchange);
  }

  get startedAt(): number {
    return this.#exchange.startedAt;
  }

  get total(): number {
    return this.#ended - this.#exchange.startedMono;
  }

  get gateway(): number {
    const { upstreamStartedMono, startedMono } = this.#exchange;
    return (upstreamStartedMono > 0 ? upstreamStartedMono : this.#ended) - startedMono;
  }

  get upstream(): number {
    const { upstreamStartedMono, firstByteMono } = this.#exchange;
    if (upstreamStartedMono === 0) return -1;
    return (firstByteMono > 0 ? firstByteMono : this.#ended) - upstreamStartedMono;
  }

  get receive(): number {
    const { firstByteMono } = this.#exchange;
    return firstByteMono > 0 ? this.#ended - firstByteMono : 0;
  }

  get bytesReceived(): number {
    return requestBytes(this.#exchange);
  }

  get bytesSent(): number {
    return responseBytes(this.#exchange);
  }

  get upstreamStatus(): number {
    return this.#exchange.upstreamStatus;
  }

  get tries(): number {
    return this.#exchange.tries;
  }

  get aborted(): boolean {
    return this.#exchange.clientAborted;
  }
}
