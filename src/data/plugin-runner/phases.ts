import type { Reply } from '../../plugin-sdk/reply.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { PluginPhase } from '../../shared/zones/worker-vitals.ts';
import type { Exchange, PluginContext } from '../request/exchange.ts';
import { beginPlugins, endPlugins } from './begin-plugins.ts';
import { beginBudget } from './budget/phase-budget.ts';
import { enter, leave } from './current-request.ts';
import type { PluginInstance } from './plan.ts';
import { failedReply, isPromise, logFailure, type PhaseResult } from './plugin-failure.ts';
import { isReply, wrongResult } from './wrong-result.ts';

export { runBackendAnswer, runBackendFailure } from './backend-answer.ts';
export { beginPlugins } from './begin-plugins.ts';
export { startBodyFilters } from './body-filters.ts';
export { type BodyReaders, bodyReaders } from './body-readers.ts';
export type { PhaseResult } from './plugin-failure.ts';
export { runAccess } from './run-access.ts';

type Step = (instance: PluginInstance, context: PluginContext) => PhaseResult;

/** Global instances only, before routing. */
export function runRewrite(exchange: Exchange): PhaseResult {
  const { rewrite } = exchange.snapshot.globalPlan;
  // `void` is the declared result of a phase that returns nothing.
  return runInOrder(
    exchange,
    rewrite,
    'rewrite',
    (instance, context) => instance.phases.rewrite?.(context) as PhaseResult,
  );
}

/** Runs over the buffered response of the backend, for the plugins that read it. A `Reply` replaces it. */
export function runResponse(
  exchange: Exchange,
  body: Uint8Array,
  readers: readonly PluginInstance[] = exchange.plan.response,
): PhaseResult {
  if (readers.length === 0) return undefined;
  beginPlugins(exchange).response.holdBody(body);
  return runInOrder(
    exchange,
    readers,
    'response',
    (instance, context) => instance.phases.response?.(context) as PhaseResult,
  );
}

/** Runs over the head of every response. A plugin that fails here is logged, and the response continues. */
export function runHeaderFilter(exchange: Exchange): void {
  const { headerFilter } = exchange.plan;
  if (headerFilter.length === 0) return;
  const context = beginPlugins(exchange);
  for (const instance of headerFilter) {
    exchange.trace?.pluginBegins(instance.name, instance.id, 'headerFilter');
    const before = enter(exchange, instance, PluginPhase.headerFilter);
    const began = exchange.timed ? monotonic() : 0;
    try {
      instance.phases.headerFilter?.(context);
      if (began > 0) instance.meter.sampled(PluginPhase.headerFilter, monotonic() - began);
      exchange.trace?.pluginEnds(undefined);
    } catch (error) {
      logFailure(exchange, instance, 'headerFilter', error);
    } finally {
      leave(before);
    }
  }
}

/** Runs once, when nothing more happens to the exchange. The context must not be used afterwards. */
export function runLog(exchange: Exchange): void {
  const { log } = exchange.plan;
  if (log.length > 0) {
    const context = beginPlugins(exchange);
    for (const instance of log) {
      const before = enter(exchange, instance, PluginPhase.log);
      const began = exchange.timed ? monotonic() : 0;
      try {
        instance.phases.log?.(context);
        if (began > 0) instance.meter.sampled(PluginPhase.log, monotonic() - began);
      } catch (error) {
        logFailure(exchange, instance, 'log', error);
      } finally {
        leave(before);
      }
    }
  }
  endPlugins(exchange);
}

function runInOrder(
  exchange: Exchange,
  instances: readonly PluginInstance[],
  phase: 'rewrite' | 'response',
  step: Step,
  first = 0,
): PhaseResult {
  if (instances.length === 0) return undefined;
  const context = beginPlugins(exchange);
  for (let at = first; at < instances.length; at++) {
    const instance = instances[at]!;
    exchange.trace?.pluginBegins(instance.name, instance.id, phase);
    let result: PhaseResult;
    const began = exchange.timed ? monotonic() : 0;
    const budget = instance.budget === null ? null : beginBudget(exchange, instance, phase);
    const before = enter(exchange, instance, PluginPhase[phase]);
    try {
      result = step(instance, budget === null ? context : budget.context(context));
    } catch (error) {
      return failedReply(exchange, instance, phase, error);
    } finally {
      leave(before);
    }
    if (isPromise(result))
      return continueAfter(
        exchange,
        budget === null ? result : budget.within(result),
        () => {
          if (began > 0) instance.meter.sampled(PluginPhase[phase], monotonic() - began);
          return runInOrder(exchange, instances, phase, step, at + 1);
        },
        (error) => failedReply(exchange, instance, phase, error),
      );
    budget?.returned();
    if (began > 0) instance.meter.sampled(PluginPhase[phase], monotonic() - began);
    if (result !== undefined && !isReply(result)) return failedReply(exchange, instance, phase, wrongResult(result));
    exchange.trace?.pluginEnds(result);
    if (result !== undefined) return result;
  }
  return undefined;
}

async function continueAfter(
  exchange: Exchange,
  pending: Promise<Reply | undefined>,
  next: () => PhaseResult,
  failed: (error: unknown) => Reply,
): Promise<Reply | undefined> {
  let result: Reply | undefined;
  try {
    result = await pending;
  } catch (error) {
    return failed(error);
  }
  if (result !== undefined && !isReply(result)) return failed(wrongResult(result));
  exchange.trace?.pluginEnds(result);
  return result ?? next();
}
