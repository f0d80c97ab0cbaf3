/**
 * A request's way: listener/ -> http1/downstream-connection.ts -> dataplane/handle-request.ts -> router/ ->
 * plugin-runner/ -> upstream/ (through dataplane/proxy.ts), and the answer back the same way.
 */
import { STATUS_CODES } from 'node:http';
import { errors } from '../errors.ts';
import { beginPlugins, runAccess, runRewrite } from '../plugin-runner/phases.ts';
import type { TraceRule } from '../plugin-runner/trace-rule.ts';
import type { Reply } from '../plugin-sdk/reply.ts';
import { normalisePath } from '../router/path.ts';
import type { RuntimeRoute } from '../snapshot/runtime.ts';
import type { TrustedPeers } from '../util/trusted-peers.ts';
import { believePeer, clientHost } from './client-address.ts';
import { drawOf, type Exchange } from './exchange.ts';
import { ExchangeQuery } from './exchange-query.ts';
import type { LateExplainer } from './explain/late-explainer.ts';
import { grpcLines, hasGrpcType } from './grpc.ts';
import type { ProxyOptions } from './options.ts';
import type { RequestProxy } from './proxy.ts';
import { answer, replyError, replyWith } from './reply.ts';
import { gatewayBlock } from './response-head.ts';
import { answerWith, type StandInParts } from './stand-in.ts';
import { TraceRecorder } from './trace-recorder.ts';

export class RequestHandler {
  readonly #options: ProxyOptions;
  readonly #proxy: RequestProxy;
  readonly #trusted: TrustedPeers;
  readonly #standIn: StandInParts;
  readonly #explainer: LateExplainer | null;
  readonly #query = new ExchangeQuery();

  /** `explainer`: null when nothing is explained. */
  constructor(options: ProxyOptions, proxy: RequestProxy, trusted: TrustedPeers, explainer: LateExplainer | null) {
    this.#options = options;
    this.#explainer = explainer;
    this.#proxy = proxy;
    this.#trusted = trusted;
    this.#standIn = { options, unexpected: proxy.unexpected };
  }

  handle(x: Exchange): void {
    if (x.snapshot.tracing !== null) beginTrace(x, x.snapshot.tracing);
    if (x.head.debug !== null) this.#explainer?.begin(x);
    if (x.peer.trusted) believePeer(x, this.#trusted, this.#options);
    const limit = this.#options.maxBodySize;
    if (limit > 0 && x.head.bodyLength > limit) {
      replyError(x, errors.payloadTooLarge, this.#options);
      return;
    }
    const path = normalisePath(x.head.rawPath);
    if (path === null) {
      replyError(x, errors.badRequest, this.#options);
      return;
    }
    x.path = path;
    if (x.snapshot.globalPlan.rewrite.length === 0) this.#route(x);
    else this.#continue(x, runRewrite(x), Step.route);
  }

  #route(x: Exchange): void {
    const query = this.#query;
    query.exchange = x;
    const span = x.trace === null ? -1 : x.trace.begin('router');
    const found = x.snapshot.router.match(query, x);
    x.trace?.end(span);
    query.exchange = null;
    if (!found) {
      if (!x.plan.empty) beginPlugins(x);
      replyError(x, errors.noRoute, this.#options);
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
    if (x.service === null) replyError(x, errors.noService, this.#options);
    else this.#proxy.start(x);
  }

  /** Goes on after a phase: at once when it was synchronous. */
  #continue(x: Exchange, result: Reply | undefined | Promise<Reply | undefined>, next: Step): void {
    if (result instanceof Promise) {
      result
        .then((reply) => {
          if (!x.finished && !x.clientAborted) this.#continue(x, reply, next);
        })
        .catch((error) => this.#proxy.unexpected(x, error));
    } else if (result !== undefined) answerWith(x, result, this.#standIn);
    else if (next === Step.route) this.#route(x);
    else this.#forward(x);
  }

  #requireHttps(x: Exchange, route: RuntimeRoute): void {
    const status = route.httpsRedirectStatusCode;
    if (status === 426) {
      replyError(x, errors.httpsRequired, this.#options, 'Connection: Upgrade\r\nUpgrade: TLS/1.2, HTTP/1.1\r\n');
      return;
    }
    const location = `https://${clientHost(x)}${x.head.target}`;
    const title = `${status} ${STATUS_CODES[status] ?? ''}`;
    const headers: [string, string][] = [
      ['Location', location],
      ['Content-Type', 'text/html; charset=utf-8'],
    ];
    const body = `<!doctype html>\n<html>\n<head><title>${title}</title></head>\n<body><h1>${title}</h1></body>\n</html>\n`;
    replyWith(x, { status, headers, body, message: null }, this.#options);
  }

  /** gRPC needs HTTP/2, and TLS where the route says so; answers and returns false otherwise. */
  #takesGrpc(x: Exchange, route: RuntimeRoute): boolean {
    const grpc = hasGrpcType(x.head.block);
    const secure = !route.httpsOnly || x.clientScheme === 'https';
    if (grpc && x.head.httpVersion === '2' && secure) {
      // How a call went stands in trailers, so every client of gRPC reads them.
      x.head.trailers = true;
      return true;
    }
    if (!route.plan.empty) beginPlugins(x);
    if (!grpc) replyError(x, errors.notGrpc, this.#options);
    else if (x.head.httpVersion !== '2') {
      replyError(x, errors.http2Required, this.#options, 'Connection: Upgrade\r\nUpgrade: HTTP/2\r\n');
    } else {
      const status = grpcLines(1, 'gRPC request matched gRPCs route');
      answer(x, 200, `${gatewayBlock(this.#options)}Content-Type: application/grpc\r\n${status}`, null);
    }
    return false;
  }
}

const Step = { route: 0, forward: 1 } as const;
type Step = (typeof Step)[keyof typeof Step];

/** Records what happens to the exchange if the rule wants it. */
function beginTrace(x: Exchange, { rate, headers }: TraceRule): void {
  if (drawOf(x) >= rate && headers?.test(x.head.block) !== true) return;
  x.trace = new TraceRecorder(x.startedAt - x.startedMono);
}
