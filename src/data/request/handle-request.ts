/**
 * The files to read to follow a request, in their order. Each passes the request on to another one of them. Whatever else
 * runs for a request (parsers, texts of heads, writers, counters, timers) is called, and returns.
 *
 *  1. src/data/listener/accept.ts: bytes arrive from the client's socket
 *  2. src/data/http1/downstream-reader.ts: a head is complete (`parse-request.ts`)
 *  3. src/data/http1/downstream-connection.ts: an `Exchange` is made; later the answer is written
 *  4. src/data/request/handle-request.ts: real IP, path, route, rules of the protocol, plugins; at the end usage and logs
 *  5. src/data/router/indexed-router.ts: the route
 *  6. src/data/attempt/attempts.ts: the states of the attempts at a backend
 *  7. src/data/attempt/addresses.ts: target and address
 *  8. src/data/upstream/pools.ts: the pool of an address
 *  9. src/data/upstream/pool.ts: an idle connection, or a new one
 * 10. src/data/attempt/request-message.ts: the request as the backend receives it
 * 11. src/data/http1/upstream-connection.ts: the answer arrives (`parse-response.ts`)
 * 12. src/data/answer/answer.ts: every answer begins here, and goes to 3
 *
 * With key-auth and an upstream also (13 to 19 within 4, 20 within 7):
 *
 * 13. src/data/plugin-runner/phases.ts: the phases, which 4 and 12 call
 * 14. src/data/plugin-runner/begin-plugins.ts: the context of the plugins
 * 15. src/data/plugin-runner/run-access.ts: the `access` phase, plugin by plugin
 * 16. src/data/request/request-context.ts: what a plugin sees of the request
 * 17. src/plugins/key-auth/handler.ts: the plugin
 * 18. src/plugins/key-auth/find-credential.ts: its credential
 * 19. src/shared/lookup/entity-cache.ts: consumers and credentials, kept until they change
 * 20. src/data/balancer/round-robin.ts: the next target of an upstream
 *
 * test/proxy/request-path.integration.test.ts counts calls for each request, and keeps this list true.
 */
import type { Reply } from '../../plugin-sdk/reply.ts';
import type { PluginLogger } from '../../plugin-sdk/tools.ts';
import { type ErrorEntry, errors } from '../../shared/errors.ts';
import { normalisePath } from '../../shared/http/path.ts';
import { reasonPhrases } from '../../shared/http/reason-phrases.ts';
import { bucketOf } from '../../shared/usage/latency-sketch.ts';
import type { RequestMeter } from '../../shared/usage/request-meter.ts';
import type { TrustedPeers } from '../../shared/util/net/trusted-peers.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { Counter } from '../../shared/zones/counters.ts';
import type { AccessLines } from '../answer/access-lines.ts';
import type { Answers } from '../answer/answer.ts';
import { requestBytes, responseBytes } from '../answer/log-record.ts';
import { TraceRecorder } from '../answer/trace-recorder.ts';
import type { Attempts } from '../attempt/attempts.ts';
import { cancelCalls } from '../calls/backend-calls.ts';
import type { LateExplainer } from '../explain/late-explainer.ts';
import { observeRequest } from '../plugin-runner/code-observer.ts';
import { beginPlugins, runAccess, runLog, runRewrite } from '../plugin-runner/phases.ts';
import type { TraceRule } from '../plugin-runner/trace-rule.ts';
import type { RuntimeRoute } from '../snapshot/runtime.ts';
import type { TrafficRecorder } from '../traffic/traffic-recorder.ts';
import { abandonLink } from '../upstream/upstream-link.ts';
import type { UsageRecorder } from '../usage/usage-recorder.ts';
import type { BodyBudget } from './body-budget.ts';
import { applyRealIp, clientHost } from './client-address.ts';
import type { DownstreamHandler } from './downstream.ts';
import { drawOf, type Exchange } from './exchange.ts';
import { ExchangeQuery } from './exchange-query.ts';
import { hasGrpcType } from './grpc.ts';
import type { ProxyOptions } from './options.ts';
import type { Overload } from './overload.ts';

/** What the handler uses of the attempts: a dry run answers instead of a backend. */
export type RequestAttempts = Pick<Attempts, 'start' | 'finished' | 'release' | 'unusable'>;

export interface RequestHandlerParts {
  readonly options: ProxyOptions;
  readonly answers: Answers;
  readonly attempts: RequestAttempts;
  readonly trusted: TrustedPeers;
  /** Null: no request is explained. */
  readonly explainer: LateExplainer | null;
  readonly overload: Pick<Overload, 'active' | 'refuse'>;
  /** This worker's row of the counters. */
  readonly counters: Float64Array;
  readonly bodies: Pick<BodyBudget, 'release'>;
  readonly meter: Pick<RequestMeter, 'add'>;
  /** Null: requests are not counted for analytics. */
  readonly usage: UsageRecorder | null;
  readonly accessLog: AccessLines | null;
  readonly log: PluginLogger;
}

/** Handles the requests of all clients of a worker, from the parsed head to the access log. */
export class RequestHandler implements DownstreamHandler {
  /** Null: traffic is not recorded. */
  traffic: Pick<TrafficRecorder, 'begin' | 'finished'> | null = null;
  readonly #parts: RequestHandlerParts;
  readonly #counters: Float64Array;
  readonly #options: ProxyOptions;
  readonly #answers: Answers;
  readonly #attempts: RequestAttempts;
  readonly #query = new ExchangeQuery();

  constructor(parts: RequestHandlerParts) {
    this.#parts = parts;
    this.#counters = parts.counters;
    this.#options = parts.options;
    this.#answers = parts.answers;
    this.#attempts = parts.attempts;
  }

  request(x: Exchange): void {
    this.#counters[Counter.requests]!++;
    this.#counters[Counter.connectionsWriting]!++;
    const { overload } = this.#parts;
    if (overload.active && overload.refuse()) {
      this.#counters[Counter.shed]!++;
      this.#answers.error(x, errors.overloaded);
      return;
    }
    try {
      this.#begin(x);
    } catch (error) {
      this.unexpected(x, error);
    }
  }

  #begin(x: Exchange): void {
    if (x.snapshot.tracing !== null) beginTrace(x, x.snapshot.tracing);
    if (this.traffic !== null) this.traffic.begin(x);
    if (x.head.debug !== null && this.#parts.explainer?.begin(x) === false) {
      this.#answers.error(x, errors.badRequest);
      return;
    }
    if (x.peer.trusted) applyRealIp(x, this.#parts.trusted, this.#options);
    const limit = this.#options.maxBodySize;
    if (limit > 0 && x.head.bodyLength > limit) {
      this.#refuse(x, errors.payloadTooLarge);
      return;
    }
    const path = normalisePath(x.head.rawPath);
    if (path === null) {
      this.#refuse(x, errors.badRequest);
      return;
    }
    x.path = path;
    if (x.snapshot.globalPlan.rewrite.length === 0) this.#route(x);
    else this.#continue(x, runRewrite(x), Step.route);
  }

  /** The request goes no further; global plugins log it. */
  #refuse(x: Exchange, error: ErrorEntry): void {
    if (!x.plan.empty) beginPlugins(x);
    this.#answers.error(x, error);
  }

  #route(x: Exchange): void {
    const query = this.#query;
    query.exchange = x;
    const span = x.trace === null ? -1 : x.trace.begin('router');
    const found = x.snapshot.router.match(query, x);
    x.trace?.end(span);
    query.exchange = null;
    if (!found) {
      this.#refuse(x, errors.noRoute);
      return;
    }
    const route = x.route as RuntimeRoute;
    x.service = route.service;
    const plan = route.plan;
    x.plan = plan;
    if (route.grpc) {
      if (!this.#takesGrpc(x, route)) return;
    } else if (route.httpsOnly && x.clientScheme !== 'https') {
      if (!plan.empty) beginPlugins(x);
      this.#requireHttps(x, route);
      return;
    }
    if (plan.empty) {
      this.#forward(x);
      return;
    }
    beginPlugins(x);
    this.#access(x);
  }

  #access(x: Exchange): void {
    if (x.plan.access.length === 0) this.#forward(x);
    else this.#continue(x, runAccess(x), Step.forward);
  }

  #forward(x: Exchange): void {
    if (x.service === null) this.#answers.error(x, errors.noService);
    else this.#attempts.start(x);
  }

  /** Continues after a phase: at once when it was synchronous. */
  #continue(x: Exchange, result: Reply | undefined | Promise<Reply | undefined>, next: Step): void {
    if (result instanceof Promise) {
      result
        .then((reply) => {
          if (!x.finished && !x.clientAborted) this.#continue(x, reply, next);
        })
        .catch((error) => this.unexpected(x, error));
    } else if (result !== undefined) this.#answers.fromPlugin(x, result);
    else if (next === Step.route) this.#route(x);
    else this.#forward(x);
  }

  #requireHttps(x: Exchange, route: RuntimeRoute): void {
    const status = route.httpsRedirectStatusCode;
    if (status === 426) {
      this.#answers.error(x, errors.httpsRequired, 'Connection: Upgrade\r\nUpgrade: TLS/1.2, HTTP/1.1\r\n');
      return;
    }
    const location = `https://${clientHost(x)}${x.head.target}`;
    const title = `${status} ${reasonPhrases[status] ?? ''}`;
    const headers: [string, string][] = [
      ['Location', location],
      ['Content-Type', 'text/html; charset=utf-8'],
    ];
    const body = `<!doctype html>\n<html>\n<head><title>${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`;
    this.#answers.fromPlugin(x, { status, headers, body, message: null });
  }

  /** gRPC needs HTTP/2, and TLS if the route demands it; answers and returns false otherwise. */
  #takesGrpc(x: Exchange, route: RuntimeRoute): boolean {
    const grpc = hasGrpcType(x.head.block);
    const secure = !route.httpsOnly || x.clientScheme === 'https';
    if (grpc && x.head.httpVersion === '2' && secure) {
      // The status of a call is in the trailers, so every gRPC client reads them.
      x.head.trailers = true;
      return true;
    }
    if (!route.plan.empty) beginPlugins(x);
    if (!grpc) this.#answers.error(x, errors.notGrpc);
    else if (x.head.httpVersion !== '2') {
      this.#answers.error(x, errors.http2Required, 'Connection: Upgrade\r\nUpgrade: HTTP/2\r\n');
    } else {
      this.#answers.grpcStatus(x, 1, 'gRPC request matched gRPCs route');
    }
    return false;
  }

  /** A bug or broken I/O: 500 with the request's id, and the cause in the error log. */
  unexpected(x: Exchange | null, error: unknown): void {
    this.#parts.log.error('request failed unexpectedly', {
      request_id: x?.id,
      error: error instanceof Error ? (error.stack ?? error.message) : String(error),
    });
    if (x === null || x.finished) return;
    abandonLink(x);
    if (x.headSent) x.downstream.abort(x);
    else this.#answerUnexpected(x);
  }

  #answerUnexpected(x: Exchange): void {
    try {
      if (!x.plan.empty) beginPlugins(x);
      this.#answers.error(x, errors.unexpected);
    } catch (error) {
      // A plugin may fail again, over this answer.
      this.#parts.log.error('request failed unexpectedly', { request_id: x.id, error: String(error) });
      x.downstream.abort(x);
    }
  }

  downstreamDrained(x: Exchange): void {
    if (x.wholeBody === null) x.upstream?.resume();
    else x.wholeBody.resume();
  }

  downstreamAborted(x: Exchange): void {
    abandonLink(x);
    if (x.calls !== null) cancelCalls(x.calls);
  }

  endStream(x: Exchange): void {
    try {
      this.#answers.endStream(x, this.#attempts);
    } catch (error) {
      this.unexpected(x, error);
    }
  }

  requestBodyTooLarge(x: Exchange): void {
    this.downstreamAborted(x);
    x.buffered = null;
    this.#answers.error(x, x.bodyLimited ? errors.requestSizeExceeded : errors.payloadTooLarge);
  }

  finished(x: Exchange): void {
    const { bodies, accessLog } = this.#parts;
    this.#counters[Counter.connectionsWriting]!--;
    this.#counters[Counter.bytesReceived]! += x.bytesReceived;
    this.#counters[Counter.bytesSent]! += x.bytesSent;
    this.#attempts.finished(x);
    if (x.calls !== null) cancelCalls(x.calls);
    if (x.heldBytes > 0) bodies.release(x);
    this.#count(x);
    if (x.context !== null) runLog(x);
    accessLog?.write(x);
    if (this.traffic !== null) this.traffic.finished(x);
  }

  #count(x: Exchange): void {
    const { meter, usage } = this.#parts;
    const now = monotonic();
    x.endedMono = now;
    const bytesIn = requestBytes(x);
    const bytesOut = responseBytes(x);
    const bucket = bucketOf(now - x.startedMono);
    meter.add(x.status, bucket, bytesIn, bytesOut);
    usage?.record(x, bytesIn, bytesOut, now, bucket);
    observeRequest(x, now);
  }
}

const Step = { route: 0, forward: 1 } as const;
type Step = (typeof Step)[keyof typeof Step];

/** Traces the exchange if the rule selects it. */
function beginTrace(x: Exchange, { rate, headers }: TraceRule): void {
  if (drawOf(x) >= rate && headers?.test(x.head.block) !== true) return;
  x.trace = new TraceRecorder(x.startedAt - x.startedMono);
}
