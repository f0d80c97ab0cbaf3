import { BufferedResponse } from '../dataplane/buffered-response.ts';
import type { Exchange } from '../dataplane/exchange.ts';
import type { ProxyOptions } from '../dataplane/options.ts';
import { replyError } from '../dataplane/reply.ts';
import { answerWith, type StandInParts } from '../dataplane/stand-in.ts';
import type { EntityDefinition } from '../entities/entity.ts';
import { type ErrorEntry, errors } from '../errors.ts';
import { isBodyless } from '../http1/bodyless.ts';
import { headerMap } from '../http1/header-block.ts';
import { buildPlan } from '../plugin-runner/build-plan.ts';
import { createInstance, type PluginHost, retireInstance } from '../plugin-runner/instances.ts';
import {
  beginPlugins,
  bodyReaders,
  runAccess,
  runBackendAnswer,
  runHeaderFilter,
  runLog,
  runRewrite,
  startBodyFilters,
} from '../plugin-runner/phases.ts';
import type { PluginInstance } from '../plugin-runner/plan.ts';
import type { BackendAnswer, BackendCall } from './calls.ts';
import type { Plugin, PluginSettings } from './define-plugin.ts';
import type { EntityAccess } from './entity-access.ts';
import type { ConsumerView } from './request-views.ts';
import type { StreamContext } from './stream-contexts.ts';
import { TestClient, type TestResponse } from './testing/test-client.ts';
import { type ConfigCheck, checkConfig } from './testing/test-config.ts';
import type { TestEntities } from './testing/test-entities.ts';
import { headerLines, type TestRequest, testExchange } from './testing/test-exchange.ts';
import { type TestLogLine, testHost } from './testing/test-host.ts';
import { runStream, type TestStream, type TestStreamOutcome } from './testing/test-stream.ts';

/*
 * Runs a plugin over requests without a socket, through the same context and phase loops as the gateway. For tests only.
 */

export type { TestResponse } from './testing/test-client.ts';
export type { ConfigCheck } from './testing/test-config.ts';
export type { TestEntities } from './testing/test-entities.ts';
export type { TestBackend, TestRequest } from './testing/test-exchange.ts';
export { type TestLogLine, testNode, testSettings } from './testing/test-host.ts';
export type { TestStream, TestStreamOutcome } from './testing/test-stream.ts';

export interface TestPluginOptions {
  /** Validated as the Admin API does; a bad one makes `request` reject. Default: empty, so the defaults. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** More plugins of the same requests, before or after in their order. */
  readonly beside?: readonly { readonly plugin: Plugin; readonly config?: Readonly<Record<string, unknown>> }[];
  /** Rows by entity; `consumers`, `keyauth_credentials`. Shared by all plugins of the test. Default: none. */
  readonly entities?: TestEntities;
  /** Entities are always answered by a promise. Default: at once. */
  readonly slowEntities?: boolean;
  /** Definitions of entities whose foreign fields are enforced: a row needs its parent, and is deleted with it. */
  readonly entityDefinitions?: readonly EntityDefinition[];
  readonly settings?: Partial<PluginSettings>;
  /** Stands for the plugin's background part. Default: it does not run. */
  readonly background?: (message: unknown) => unknown;
  /** Answers the calls of the plugin to backends. Default: there is no way to them. */
  readonly calls?: (call: BackendCall) => BackendAnswer | Promise<BackendAnswer>;
}

/** What became of a request. */
export interface TestOutcome {
  /** What the backend received; null when a plugin answered. Header names are in lower case. */
  readonly upstream: {
    readonly method: string;
    /** Null: the path and query as the gateway makes them. */
    readonly path: string | null;
    readonly query: string | null;
    readonly headers: Readonly<Record<string, readonly string[]>>;
    header(name: string): string | null;
    /** Null: the client's, which no plugin has asked for. */
    readonly body: string | null;
  } | null;
  readonly response: TestResponse;
  readonly requestId: string;
  readonly consumer: ConsumerView | null;
  /** The log record. */
  readonly record: Readonly<Record<string, unknown>>;
}

export interface PluginTest {
  /** What the plugins wrote to the error log. */
  readonly logLines: readonly TestLogLine[];
  /** What the plugins counted, by `<plugin>.<name>`. */
  readonly counts: ReadonlyMap<string, number>;
  /** The entities, to look at and to change during the test. */
  readonly entities: EntityAccess;
  /** Validates a configuration; says what the Admin API would. */
  check(config: Readonly<Record<string, unknown>>): Promise<ConfigCheck>;
  request(request?: TestRequest): Promise<TestOutcome>;
  /** Whether a stream of these facts is let in. */
  accept(stream?: Partial<StreamContext>): Promise<boolean>;
  /** A stream from its begin to its end. */
  stream(stream?: TestStream): Promise<TestStreamOutcome>;
  /** As when the node ends. */
  drain(): Promise<void>;
  /** As when the instances are removed. */
  dispose(): Promise<void>;
}

export function testPlugin(plugin: Plugin, options: TestPluginOptions = {}): PluginTest {
  const logLines: TestLogLine[] = [];
  const plugins = [{ plugin, config: options.config ?? {} }, ...(options.beside ?? [])];
  let instances: Promise<readonly PluginInstance[]> | null = null;
  const counts = new Map<string, number>();
  const host = testHost(options, logLines, counts);
  const ready = () => {
    instances ??= Promise.all(plugins.map((one, at) => setUp(one.plugin, one.config ?? {}, at, host)));
    return instances;
  };
  return {
    logLines,
    counts,
    entities: host.entities,
    check: (config) => checkConfig(plugin, config),
    request: async (request = {}) => run(request, await ready(), options.calls ?? null),
    accept: async (stream = {}) => {
      const context = { ...plainStream, ...stream };
      return buildPlan(await ready()).accept.every((instance) => instance.phases.accept?.(context) === true);
    },
    drain: async () => {
      for (const { phases } of await ready()) await phases.drain?.();
    },
    stream: async (stream = {}) => runStream(stream, await ready()),
    dispose: async () => {
      for (const instance of await ready()) retireInstance(instance);
    },
  };
}

const plainStream: StreamContext = Object.freeze({
  protocol: 'tcp',
  client: { ip: '127.0.0.1', port: 40_000 },
  localIp: '127.0.0.1',
  localPort: 9000,
  serverName: '',
  route: { id: '7f6b8c1e-0000-4000-8000-000000000001', name: 'test-route', tags: [] },
  service: null,
});

async function setUp(
  plugin: Plugin,
  config: Readonly<Record<string, unknown>>,
  serial: number,
  host: PluginHost,
): Promise<PluginInstance> {
  const checked = await checkConfig(plugin, config);
  if (!checked.ok) throw new Error(checked.message);
  const id = `7f6b8c1e-0000-4000-9000-${String(serial).padStart(12, '0')}`;
  const row = { id, name: plugin.name, config: checked.config };
  return createInstance(new Map([[plugin.name, plugin]]), row, host);
}

async function run(
  request: TestRequest,
  instances: readonly PluginInstance[],
  calls: TestPluginOptions['calls'] | null,
): Promise<TestOutcome> {
  const client = new TestClient();
  const caller =
    calls === null || calls === undefined ? null : { call: async (_: Exchange, call: BackendCall) => calls(call) };
  const exchange = testExchange(request, buildPlan(instances), client, undefined, caller);
  const context = beginPlugins(exchange);
  const refused = refusal(exchange);
  const reply = (await runRewrite(exchange)) ?? (refused === null ? await runAccess(exchange) : undefined);
  const upstream = reply === undefined && refused === null ? received(exchange) : null;
  if (reply !== undefined) await answered(exchange, client, () => answerWith(exchange, reply, parts(client)));
  else if (refused !== null) replyError(exchange, refused, options);
  else await answerFrom(exchange, client, request);
  const record = context.record();
  exchange.finished = true;
  runLog(exchange);
  const { id: requestId, consumer } = exchange;
  return { upstream, response: client.response(), requestId, consumer, record };
}

/** What the gateway itself refuses. */
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

/** Sends the backend's answer through the phases that come after it. */
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
      await answered(exchange, client, () => answerWith(exchange, reply, parts(client)));
      return;
    }
    for (const piece of pieces) exchange.tap?.chunk(piece);
    exchange.tap?.end();
    exchange.tap = null;
  }
  const readers = exchange.plan.responseBodyLimit > 0 ? bodyReaders(exchange) : null;
  if (readers !== null && readers.limit > 0) {
    const buffered = new BufferedResponse({ ...parts(client), readers }, isBodyless(exchange.head.method, status));
    await answered(exchange, client, () => {
      if (pieces.every((piece) => buffered.push(exchange, piece, 0, piece.byteLength) === null)) {
        buffered.finish(exchange, headerLines(trailers));
      } else replyError(exchange, errors.responseTooLarge, options);
    });
    return;
  }
  runHeaderFilter(exchange);
  exchange.downstream.sendHead(exchange, -1);
  sendFiltered(exchange, pieces, headerLines(trailers));
}

/** Begins to answer, and waits until the answer is complete. */
async function answered(exchange: Exchange, client: TestClient, begin: () => void): Promise<void> {
  begin();
  if (!exchange.headSent || !client.done) await client.ended;
}

function parts(client: TestClient): StandInParts {
  return { options, unexpected: (_, error) => client.fail(error) };
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
