import { EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import { LimiterUnavailable } from '../../plugin-sdk/limits.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import { type Reply, refuse, replyJson } from '../../plugin-sdk/reply.ts';
import { BodyMemoryExhausted, errors, RequestBodyTooLarge } from '../../shared/errors.ts';
import { ContentCodingError } from '../../shared/util/bytes/content-coding.ts';
import { OutageLog } from '../../shared/util/time/outage-log.ts';
import type { Exchange } from '../request/exchange.ts';
import type { PluginInstance } from './plan.ts';

/** Nothing: continue. A `Reply`: answer with it. */
export type PhaseResult = Reply | undefined | Promise<Reply | undefined>;

/** A plugin threw. The cause appears only in the log. */
export function logFailure(
  exchange: Exchange,
  instance: PluginInstance,
  phase: keyof PluginPhases,
  error: unknown,
): void {
  exchange.trace?.pluginFailed();
  instance.log.error('plugin failed', { phase, request_id: exchange.id, error });
}

/** The same, where the request cannot continue. */
export function failedReply(
  exchange: Exchange,
  instance: PluginInstance,
  phase: keyof PluginPhases,
  error: unknown,
): Reply {
  const reply = replyTo(exchange, instance, phase, error);
  exchange.trace?.pluginFailed(reply);
  return reply;
}

function replyTo(exchange: Exchange, instance: PluginInstance, phase: keyof PluginPhases, error: unknown): Reply {
  if (error instanceof RequestBodyTooLarge)
    return refuse(errors.payloadTooLarge.status, errors.payloadTooLarge.message);
  if (error instanceof BodyMemoryExhausted)
    return refuse(errors.overloaded.status, errors.overloaded.message, { 'Retry-After': '1' });
  if (error instanceof ContentCodingError && phase === 'access') return codingRefusal(error);
  if (error instanceof EntityAccessError && error.kind === 'unavailable') {
    outageOf(storeOutages, instance, 'store unavailable; lookups fail').failed(error, {
      phase,
      request_id: exchange.id,
    });
    return refuse(errors.storeUnavailable.status, errors.storeUnavailable.message);
  }
  if (error instanceof LimiterUnavailable)
    outageOf(limiterOutages, instance, 'counters unavailable; requests are rejected').failed(error, { phase });
  else logFailure(exchange, instance, phase, error);
  return replyJson(errors.unexpected.status, { message: errors.unexpected.message });
}

const storeOutages = new WeakMap<PluginInstance, OutageLog>();
const limiterOutages = new WeakMap<PluginInstance, OutageLog>();

function outageOf(outages: WeakMap<PluginInstance, OutageLog>, instance: PluginInstance, message: string): OutageLog {
  const known = outages.get(instance);
  if (known !== undefined) return known;
  const created = new OutageLog(instance.log, message);
  outages.set(instance, created);
  return created;
}

/** A request body that could not be decoded (`Content-Encoding`). */
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
