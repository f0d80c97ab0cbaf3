import { Answers } from '../data/answer/answer.ts';
import { BufferedResponse } from '../data/answer/buffered-response.ts';
import { isBodyless } from '../data/http1/body-reader.ts';
import { buildPlan } from '../data/plugin-runner/build-plan.ts';
import {
  beginPlugins,
  bodyReaders,
  runAccess,
  runBackendAnswer,
  runHeaderFilter,
  runLog,
  runRewrite,
  startBodyFilters,
} from '../data/plugin-runner/phases.ts';
import type { PluginInstance } from '../data/plugin-runner/plan.ts';
import type { Exchange } from '../data/request/exchange.ts';
import type { ProxyOptions } from '../data/request/options.ts';
import type { BackendAnswer, BackendCall } from '../plugin-sdk/calls.ts';
import type { ConsumerView } from '../plugin-sdk/request-views.ts';
import { type ErrorEntry, errors } from '../shared/errors.ts';
import { headerMap } from '../shared/http/header-block.ts';
import { TestClient, type TestResponse } from './test-client.ts';
import { headerLines, type TestRequest, testExchange } from './test-exchange.ts';

/** Answers the calls of plugins to backends (`context.call`). */
export type TestCalls = (call: BackendCall) => BackendAnswer | Promise<BackendAnswer>;

/** What happened to a request. */
export interface TestOutcome {
  /** What the backend received; null: a plugin or the gateway replied. */
  readonly upstream: {
    readonly method: string;
    /** Null: the path as the gateway makes it of the client's. */
    readonly path: string | null;
    /** Null: the client's. */
    readonly query: string | null;
    /** Lower-case names, values in order. */
    readonly headers: Readonly<Record<string, readonly string[]>>;
    /** First value of a header (any case), or null. */
    header(name: string): string | null;
    /** Null: the client's, which no plugin has read. */
    readonly body: string | null;
  } | null;
  /** What the client received. */
  readonly response: TestResponse;
  readonly requestId: string;
  readonly consumer: ConsumerView | null;
  /** The log record. */
  readonly record: Readonly<Record<string, unknown>>;
}

/** Runs all phases of one request. */
export async function runRequest(
  request: TestRequest,
  instances: readonly PluginInstance[],
  calls: TestCalls | null,
): Promise<TestOutcome> {
  const client = new TestClient();
  const caller = calls === null ? null : { call: async (_: Exchange, call: BackendCall) => calls(call) };
  const exchange = testExchange(request, buildPlan(instances), client, undefined, caller);
  const context = beginPlugins(exchange);
  const refused = refusal(exchange);
  const reply = (await runRewrite(exchange)) ?? (refused === null ? await runAccess(exchange) : undefined);
  const upstream = reply === undefined && refused === null ? received(exchange) : null;
  if (reply !== undefined) await answered(exchange, client, () => answers(client).fromPlugin(exchange, reply));
  else if (refused !== null) answers(client).error(exchange, refused);
  else await answerFrom(exchange, client, request);
  const record = context.record();
  exchange.finished = true;
  runLog(exchange);
  const { id: requestId, consumer } = exchange;
  return { upstream, response: client.response(), requestId, consumer, record };
}

/** What the gateway refuses without a plugin. */
function refusal(exchange: Exchange): ErrorEntry | null {
  if (exchange.route === null) return errors.noRoute;
  const limit = exchange.plan.requestBodyLimit;
  return limit > 0 && exchange.head.bodyLength > limit ? errors.payloadTooLarge : null;
}

function received(exchange: Exchange): TestOutcome['upstream'] {
  const { head, requestEdits } = exchange;
  const block = exchange.identity + head.forwardBlock;
  const headers = headerMap(requestEdits?.applyTo(block) ?? block);
  return {
    method: exchange.upstreamMethod ?? head.method,
    path: exchange.upstreamPath ?? exchange.pathInService,
    query: exchange.upstreamQuery,
    headers,
    header: (name) => headers[name.toLowerCase()]?.[0] ?? null,
    body: exchange.requestBody === null ? null : Buffer.from(exchange.requestBody).toString(),
  };
}

/** Passes the response of the backend through the phases that follow it. */
async function answerFrom(exchange: Exchange, client: TestClient, { backend = {} }: TestRequest): Promise<void> {
  const { status = 200, headers = {}, body = '', trailers = {} } = backend;
  const pieces = (typeof body === 'string' ? [body] : body).map((piece) => Buffer.from(piece));
  exchange.status = status;
  exchange.upstreamStatus = status;
  exchange.responseSource = 'upstream';
  exchange.responseBlock = headerLines(headers);
  if (exchange.plan.backendAnswer.length > 0) {
    const reply = runBackendAnswer(exchange);
    if (reply !== null) {
      await answered(exchange, client, () => answers(client).fromPlugin(exchange, reply));
      return;
    }
    for (const piece of pieces) exchange.tap?.chunk(piece);
    exchange.tap?.end();
    exchange.tap = null;
  }
  const readers = exchange.plan.responseBodyLimit > 0 ? bodyReaders(exchange) : null;
  if (readers !== null && readers.limit > 0) {
    const buffered = new BufferedResponse({ ...answers(client), readers }, isBodyless(exchange.head.method, status));
    await answered(exchange, client, () => {
      if (pieces.every((piece) => buffered.push(exchange, piece, 0, piece.byteLength) === null)) {
        buffered.finish(exchange, headerLines(trailers));
      } else answers(client).error(exchange, errors.responseTooLarge);
    });
    return;
  }
  runHeaderFilter(exchange);
  exchange.downstream.sendHead(exchange, -1);
  sendFiltered(exchange, pieces, headerLines(trailers));
}

/** Starts the response and waits until it is complete. */
async function answered(exchange: Exchange, client: TestClient, begin: () => void): Promise<void> {
  begin();
  if (!exchange.headSent || !client.done) await client.ended;
}

function answers(client: TestClient): Answers {
  return new Answers(options, (_, error) => client.fail(error));
}

function sendFiltered(exchange: Exchange, pieces: readonly Buffer[], trailers: string): void {
  const send = (piece: Uint8Array | null) => {
    if (piece !== null) exchange.downstream.sendBody(exchange, piece, 0, piece.byteLength);
  };
  try {
    const filters = startBodyFilters(exchange);
    for (const piece of pieces) send(filters === null ? piece : filters.chunk(piece));
    if (filters !== null) send(filters.end(headerMap(trailers)));
    exchange.downstream.sendEnd(exchange, '');
  } catch {
    exchange.downstream.abort(exchange);
  }
}

const options: ProxyOptions = Object.freeze({
  serverHeader: true,
  viaHeader: true,
  proxyLatency: true,
  upstreamLatency: true,
  responseLatency: true,
  upstreamStatus: false,
  requestIdDownstream: true,
  serverTiming: false,
  requestIdUpstream: true,
  realIpHeader: 'x-real-ip',
  realIpRecursive: false,
  errorDefaultType: 'text/plain',
  debugHeader: false,
  maxBodySize: 0,
});
