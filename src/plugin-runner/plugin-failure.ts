import type { Exchange } from '../dataplane/exchange.ts';
import { BodyMemoryExhausted, errors, RequestBodyTooLarge } from '../errors.ts';
import type { PluginPhases } from '../plugin-sdk/contexts.ts';
import { EntityAccessError } from '../plugin-sdk/entity-access.ts';
import { type Reply, refuse, replyJson } from '../plugin-sdk/reply.ts';
import { ContentCodingError } from '../util/content-coding.ts';
import type { PluginInstance } from './plan.ts';

/** Nothing: go on. A `Reply`: answer with it. */
export type PhaseResult = Reply | undefined | Promise<Reply | undefined>;

/** A plugin threw. Only the log learns why. */
export function logFailure(
  exchange: Exchange,
  instance: PluginInstance,
  phase: keyof PluginPhases,
  error: unknown,
): void {
  exchange.trace?.pluginFailed();
  instance.log.error('plugin failed', { phase, request_id: exchange.id, error });
}

/** The same, where the request cannot go on. */
export function failedReply(
  exchange: Exchange,
  instance: PluginInstance,
  phase: keyof PluginPhases,
  error: unknown,
): Reply {
  exchange.trace?.pluginFailed();
  if (error instanceof RequestBodyTooLarge)
    return refuse(errors.payloadTooLarge.status, errors.payloadTooLarge.message);
  if (error instanceof BodyMemoryExhausted)
    return refuse(errors.overloaded.status, errors.overloaded.message, { 'Retry-After': '1' });
  if (error instanceof ContentCodingError && phase === 'access') return codingRefusal(error);
  if (error instanceof EntityAccessError && error.kind === 'unavailable') {
    instance.log.warn('the store cannot be asked', { phase, request_id: exchange.id, reason: error.message });
    return refuse(errors.storeUnavailable.status, errors.storeUnavailable.message);
  }
  logFailure(exchange, instance, phase, error);
  return replyJson(errors.unexpected.status, { message: errors.unexpected.message });
}

/** A request body whose content coding could not be taken off. */
function codingRefusal({ fault }: ContentCodingError): Reply {
  if (fault === 'too-large') return refuse(errors.payloadTooLarge.status, errors.payloadTooLarge.message);
  if (fault === 'broken') return refuse(400, 'The body does not match its Content-Encoding');
  return refuse(415, 'The Content-Encoding is not supported', { 'Accept-Encoding': 'gzip, deflate, br, zstd' });
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
