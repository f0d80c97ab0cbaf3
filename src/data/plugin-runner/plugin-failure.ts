import { CallFailed, type CallFailure } from '../../plugin-sdk/calls.ts';
import { EntityAccessError } from '../../plugin-sdk/entity-access.ts';
import { LimiterUnavailable } from '../../plugin-sdk/limits.ts';
import type { PluginPhases } from '../../plugin-sdk/phases.ts';
import { type Reply, refuse, replyJson } from '../../plugin-sdk/reply.ts';
import { BodyMemoryExhausted, type ErrorEntry, errors, RequestBodyTooLarge } from '../../shared/errors.ts';
import { headerValue } from '../../shared/http/header-block.ts';
import { ContentCodingError } from '../../shared/util/bytes/content-coding.ts';
import { OutageLog } from '../../shared/util/time/outage-log.ts';
import { MeterPhase } from '../../shared/zones/plugin-meter.ts';
import type { Exchange } from '../request/exchange.ts';
import { observeFailure } from './code-observer.ts';
import type { PluginInstance } from './plan.ts';
import { reportFailure } from './report-failure.ts';

/** Nothing: continue. A `Reply`: answer with it. */
export type PhaseResult = Reply | undefined | Promise<Reply | undefined>;

/** Phases of a request. */
type FailingPhase = Exclude<keyof PluginPhases, 'logMask' | 'accessSkipped'>;

/** A plugin threw. The cause appears only in the log. */
export function logFailure(exchange: Exchange, instance: PluginInstance, phase: FailingPhase, error: unknown): void {
  exchange.trace?.pluginFailed();
  observeFailure(instance.name);
  reportFailure(instance, phase, error, exchange.id);
}

/** The same, where the request cannot continue. */
export function failedReply(exchange: Exchange, instance: PluginInstance, phase: FailingPhase, error: unknown): Reply {
  const reply = replyTo(exchange, instance, phase, error);
  exchange.trace?.pluginFailed(reply);
  return reply;
}

function replyTo(exchange: Exchange, instance: PluginInstance, phase: FailingPhase, error: unknown): Reply {
  if (error instanceof RequestBodyTooLarge)
    return refuse(errors.payloadTooLarge.status, errors.payloadTooLarge.message);
  if (error instanceof BodyMemoryExhausted)
    return refuse(errors.overloaded.status, errors.overloaded.message, { 'Retry-After': '1' });
  if (error instanceof ContentCodingError && phase === 'access') return codingRefusal(error);
  if (error instanceof CallFailed) return callRefusal(exchange, instance, phase, error);
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
  const { development, name } = instance;
  if (development !== undefined) {
    const { block, host } = exchange.head;
    const asker = { accept: headerValue(block, 'accept'), host };
    return development.failed({ plugin: name, title: `failed in ${phase}` }, error, asker);
  }
  return replyJson(errors.unexpected.status, { message: errors.unexpected.message });
}

/** The plugin left it to the gateway what a client receives when its call has no answer: the same as for the request itself. */
function callRefusal(exchange: Exchange, instance: PluginInstance, phase: FailingPhase, error: CallFailed): Reply {
  const message = 'a call of the plugin to a backend failed; requests are rejected';
  const status = callStatuses.has(error.status) ? error.status : errors.badResponse.status;
  // The client has left.
  if (error.reason === 'stopped') return refuse(status, errors.upstreamClosed.message);
  instance.meter.failed(MeterPhase[phase]);
  outageOf(callOutages, instance, message).failed(error, { phase, request_id: exchange.id, call_failed: error.reason });
  const entry = callErrors.get(error.reason) ?? errors.badResponse;
  return refuse(status, entry.status === status ? entry.message : errors.overloaded.message);
}

const callStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

const callErrors: ReadonlyMap<CallFailure, ErrorEntry> = new Map([
  ['unreachable', errors.connectFailed],
  ['timeout', errors.totalTimeout],
  ['no-target', errors.noTarget],
  ['bad-answer', errors.badResponse],
  ['too-large', errors.responseTooLarge],
  ['no-service', errors.noService],
]);

const callOutages = new WeakMap<PluginInstance, OutageLog>();
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
