import type { BackendReply, Reply } from '../../plugin-sdk/reply.ts';
import { headerValue } from '../../shared/http/header-block.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { isBodyless } from '../http1/body-reader.ts';
import { bodyReaders, runBackendAnswer, runHeaderFilter } from '../plugin-runner/phases.ts';
import type { Exchange } from '../request/exchange.ts';
import type { ProxyOptions } from '../request/options.ts';
import { BufferedResponse } from './buffered-response.ts';
import { answerError, answerReply, replyBytes, replyLines } from './gateway-answer.ts';
import { gatewayBlock } from './response-head.ts';
import { sendWhole } from './whole-body.ts';

export interface PluginReplyParts {
  readonly options: ProxyOptions;
  readonly unexpected: (x: Exchange, error: unknown) => void;
}

/** Answers with a plugin's reply: as the gateway, or as if the backend had sent it (`backendReply`). */
export function answerPlugin(x: Exchange, reply: Reply, parts: PluginReplyParts): void {
  const { backend, status } = reply;
  if (backend === undefined || status < 200 || status > 599) answerReply(x, reply, parts.options);
  else answerAsBackend(x, reply, backend, parts);
}

/** Plugins treat the answer as one of a backend. */
function answerAsBackend(x: Exchange, reply: Reply, { block, fresh }: BackendReply, parts: PluginReplyParts): void {
  // Without a call to a backend, it counts as an answer that arrived at once.
  if (x.upstreamStartedMono === 0) x.upstreamStartedMono = monotonic();
  if (x.firstByteMono === 0) x.firstByteMono = monotonic();
  x.status = reply.status;
  x.reason = '';
  x.responseSource = 'upstream';
  x.responseEdits = null;
  x.responseBlock = block ?? ownLines(reply, parts.options);
  const body = replyBytes(reply) ?? noBody;
  if (fresh && x.plan.backendAnswer.length > 0) {
    const other = runBackendAnswer(x);
    if (other !== null) {
      answerPlugin(x, stored(other), parts);
      return;
    }
    x.tap?.chunk(body);
    x.tap?.end();
    x.tap = null;
  }
  const bodiless = isBodyless(x.head.method, reply.status);
  const readers = x.plan.responseBodyLimit > 0 ? bodyReaders(x) : null;
  if (readers === null || readers.limit === 0) {
    sendAll(x, body, bodiless);
    return;
  }
  const buffered = new BufferedResponse({ ...parts, readers }, bodiless);
  const unusable = buffered.push(x, body, 0, bodiless ? 0 : body.byteLength);
  if (unusable === null) buffered.finish(x, '');
  else answerError(x, unusable, parts.options);
}

function sendAll(x: Exchange, body: Uint8Array, bodiless: boolean): void {
  // The answer to a HEAD declares the length that a GET would have, unless a filter would change it.
  const declared = bodiless && (body.byteLength === 0 || x.plan.bodyFilter.length > 0) ? -1 : body.byteLength;
  x.responseLength = body.byteLength === 0 && bodiless ? -1 : body.byteLength;
  if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
  sendWhole(x, body, { bodilessLength: declared, end: () => x.downstream.sendEnd(x, '') });
}

const noBody = new Uint8Array(0);

/** Plugins are not offered it again to store. */
function stored(reply: Reply): Reply {
  return reply.backend === undefined ? reply : { ...reply, backend: { ...reply.backend, fresh: false } };
}

function ownLines(reply: Reply, options: ProxyOptions): string {
  const lines = replyLines(reply);
  return headerValue(lines, 'date') === null ? gatewayBlock(options) + lines : lines;
}
