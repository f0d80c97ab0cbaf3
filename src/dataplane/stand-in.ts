import { isBodyless } from '../http1/bodyless.ts';
import { headerValue } from '../http1/header-block.ts';
import { bodyReaders, runBackendAnswer, runHeaderFilter } from '../plugin-runner/phases.ts';
import type { BackendReply, Reply } from '../plugin-sdk/reply.ts';
import { monotonic } from '../util/clock.ts';
import { BufferedResponse } from './buffered-response.ts';
import type { Exchange } from './exchange.ts';
import type { ProxyOptions } from './options.ts';
import { replyBytes, replyError, replyLines, replyWith } from './reply.ts';
import { gatewayBlock } from './response-head.ts';
import { sendWhole } from './whole-body.ts';

export interface StandInParts {
  readonly options: ProxyOptions;
  readonly unexpected: (x: Exchange, error: unknown) => void;
}

/** Answers with what a plugin returned: as the gateway, or in the place of the backend (`backendReply`). */
export function answerWith(x: Exchange, reply: Reply, parts: StandInParts): void {
  const { backend, status } = reply;
  if (backend === undefined || status < 200 || status > 599) replyWith(x, reply, parts.options);
  else standIn(x, reply, backend, parts);
}

/** The answer takes the way of a backend's: all that plugins do to those they do to this one. */
function standIn(x: Exchange, reply: Reply, { block, fresh }: BackendReply, parts: StandInParts): void {
  // One that no call was made for is told as an answer that came at once.
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
      answerWith(x, stored(other), parts);
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
  else replyError(x, unusable, parts.options);
}

function sendAll(x: Exchange, body: Uint8Array, bodiless: boolean): void {
  // A HEAD tells the length that a GET would have, unless a filter would change it.
  const told = bodiless && (body.byteLength === 0 || x.plan.bodyFilter.length > 0) ? -1 : body.byteLength;
  x.responseLength = body.byteLength === 0 && bodiless ? -1 : body.byteLength;
  if (x.plan.headerFilter.length > 0) runHeaderFilter(x);
  sendWhole(x, body, { bodilessLength: told, end: () => x.downstream.sendEnd(x, '') });
}

const noBody = new Uint8Array(0);

/** It is not offered to be kept again. */
function stored(reply: Reply): Reply {
  return reply.backend === undefined ? reply : { ...reply, backend: { ...reply.backend, fresh: false } };
}

function ownLines(reply: Reply, options: ProxyOptions): string {
  const lines = replyLines(reply);
  return headerValue(lines, 'date') === null ? gatewayBlock(options) + lines : lines;
}
