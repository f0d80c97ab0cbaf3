import type { Exchange } from '../dataplane/exchange.ts';
import { BodyMemoryExhausted, errors, RequestBodyTooLarge } from '../errors.ts';
import type { PluginPhases } from '../plugin-sdk/contexts.ts';
import { EntityAccessError } from '../plugin-sdk/entity-access.ts';
import { LimiterUnavailable } from '../plugin-sdk/limits.ts';
import { type Reply, refuse, replyJson } from '../plugin-sdk/reply.ts';
import { ContentCodingError } from '../util/content-coding.ts';
import { OutageLog } from '../util/outage-log.ts';
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
    outageOf(storeOutages, instance, 'the store cannot be asked').failed(error, { phase, request_id: exchange.id });
    return refuse(errors.storeUnavailable.status, errors.storeUnavailable.message);
  }
  if (error instanceof LimiterUnavailable)
    outageOf(limiterOutages, instance, 'requests fail without the counters').failed(error, { phase });
  else logFailure(exchange, instance, phase, error);
  return replyJson(errors.unexpected.status, { message: errors.unexpected.message });
}

const storeOutages = new WeakMap<PluginInstance, OutageLog>();
const limiterOutages = new WeakMap<PluginInstance, OutageLog>();

function outageOf(outages: WeakMap<PluginInstance, OutageLog>, instance: PluginInstance, message: string): OutageLog {
  const known = outages.get(instance);
  if (known !== undefined) return known;
  const made = new OutageLog(instance.log, message);
  outages.set(instance, made);
  return made;
}

/** A request body whose content coding could not be taken off. */
function codingRefusal({ fault }: ContentCodingError): Reply {
  if (fault === 'too-large') return refuse(errors.payloadTooLarge.status, errors.payloadTooLarge.message);
  if (fault === 'overloaded')
    return refuse(errors.overloaded.status, errors.overloaded.message, { 'Retry-After': '1' });
  if (fault === 'broken') return refuse(400, 'The body does not match its Content-Encoding');
  return refuse(415, 'The Content-Encoding is not supported', { 'Accept-Encoding': 'gzip, deflate, br, zstd' });
}

export function isPromise<T>(value: T | Promise<T>): value is Promise<T> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
