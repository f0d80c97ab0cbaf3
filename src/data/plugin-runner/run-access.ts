import type { Reply } from '../../plugin-sdk/reply.ts';
import type { ConsumerView, CredentialView } from '../../plugin-sdk/request-views.ts';
import { compareInstances } from '../../shared/plugin-plan/precedence.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { PluginPhase } from '../../shared/zones/worker-vitals.ts';
import type { Alternatives, Exchange, PluginContext } from '../request/exchange.ts';
import { beginPlugins, holdPlan } from './begin-plugins.ts';
import { beginBudget } from './budget/phase-budget.ts';
import { enter, leave } from './current-request.ts';
import type { PluginInstance } from './plan.ts';
import { failedReply, isPromise, type PhaseResult } from './plugin-failure.ts';
import { switchPlan } from './switch-plan.ts';
import { isReply, wrongResult } from './wrong-result.ts';

/** The access phase of the exchange's plan. A `Reply` ends it: the remaining handlers do not run. */
export function runAccess(exchange: Exchange): PhaseResult {
  if (exchange.plan.access.length === 0) return undefined;
  return runFrom(exchange, beginPlugins(exchange), 0);
}

/** Synchronous until a plugin returns a promise. */
function runFrom(exchange: Exchange, context: PluginContext, first: number): PhaseResult {
  let at = first;
  while (at < exchange.plan.access.length) {
    const instance = exchange.plan.access[at]!;
    const { consumer, credential, alternatives } = exchange;
    exchange.accessAt = at;
    exchange.trace?.pluginBegins(instance.name, instance.id, 'access');
    let result: PhaseResult;
    const began = exchange.timed ? monotonic() : 0;
    const budget = instance.budget === null ? null : beginBudget(exchange, instance, 'access');
    const before = enter(exchange, instance, PluginPhase.access);
    try {
      if (alternatives?.settled === true && alternatives.names.has(instance.name))
        instance.phases.accessSkipped?.(context);
      else result = instance.phases.access?.(budget === null ? context : budget.context(context)) as PhaseResult;
    } catch (error) {
      return failedReply(exchange, instance, 'access', error);
    } finally {
      leave(before);
    }
    if (isPromise(result)) {
      const pending = budget === null ? result : budget.within(result);
      return continueAfter(exchange, context, at, consumer, credential, pending, began);
    }
    budget?.returned();
    if (began > 0) instance.meter.sampled(PluginPhase.access, monotonic() - began);
    if (result !== undefined && !isReply(result)) return failedReply(exchange, instance, 'access', wrongResult(result));
    exchange.trace?.pluginEnds(result);
    at = followConsumer(exchange, at, consumer);
    if (exchange.alternatives === null) {
      if (result !== undefined) return result;
    } else {
      const verdict = decideAlternatives(exchange, exchange.alternatives, instance, at, credential, result);
      if (verdict === none) return runFallback(exchange, context, exchange.alternatives, at);
      if (verdict !== undefined) return verdict;
    }
  }
  return undefined;
}

async function continueAfter(
  exchange: Exchange,
  context: PluginContext,
  at: number,
  consumer: ConsumerView | null,
  credential: CredentialView | null,
  pending: Promise<Reply | undefined>,
  began: number,
): Promise<Reply | undefined> {
  const instance = exchange.plan.access[at]!;
  let result: Reply | undefined;
  try {
    result = await pending;
  } catch (error) {
    return failedReply(exchange, instance, 'access', error);
  }
  if (result !== undefined && !isReply(result)) return failedReply(exchange, instance, 'access', wrongResult(result));
  exchange.trace?.pluginEnds(result);
  if (began > 0) instance.meter.sampled(PluginPhase.access, monotonic() - began);
  if (exchange.finished) return undefined;
  const next = followConsumer(exchange, at, consumer);
  if (exchange.alternatives === null) return result ?? runFrom(exchange, context, next);
  const verdict = decideAlternatives(exchange, exchange.alternatives, instance, next, credential, result);
  if (verdict === none) return runFallback(exchange, context, exchange.alternatives, next);
  return verdict ?? runFrom(exchange, context, next);
}

/** All alternatives have run, and none has authenticated the client. */
const none = Symbol('none');

/** Decides after a plugin's result while alternatives are open: a reply, the next plugin, or the fallback. */
function decideAlternatives(
  exchange: Exchange,
  alternatives: Alternatives,
  instance: PluginInstance,
  next: number,
  before: CredentialView | null,
  result: Reply | undefined,
): Reply | undefined | typeof none {
  if (alternatives.settled) return result;
  if (alternatives.names.has(instance.name)) {
    alternatives.asked++;
    if (result !== undefined && result.status !== 401) return result;
    if (result !== undefined) alternatives.refusals.push(result);
    else if (exchange.credential !== null && exchange.credential !== before) {
      alternatives.settled = true;
      return undefined;
    }
  } else if (result !== undefined) return result;
  const { access } = exchange.plan;
  for (let at = next; at < access.length; at++) {
    if (alternatives.names.has(access[at]!.name)) return undefined;
  }
  alternatives.settled = true;
  return none;
}

async function runFallback(
  exchange: Exchange,
  context: PluginContext,
  { otherwise, refusals, asked }: Alternatives,
  next: number,
): Promise<Reply | undefined> {
  const last = next - 1;
  const { consumer } = exchange;
  let result: Reply | undefined;
  try {
    result = await otherwise(context, refusals, asked);
  } catch (error) {
    return failedReply(exchange, exchange.plan.access[last]!, 'access', error);
  }
  if (exchange.finished) return undefined;
  return result ?? runFrom(exchange, context, followConsumer(exchange, last, consumer));
}

/**
 * Switches to the consumer's plan when the plugin at `at` has named another consumer. Returns the index of the next
 * plugin.
 */
function followConsumer(exchange: Exchange, at: number, before: ConsumerView | null): number {
  const { route, consumer, plan } = exchange;
  if (consumer === before || route === null) return at + 1;
  const current = plan.access[at]!;
  const after = consumer === null ? route.plan : exchange.snapshot.planFor(route, consumer.id);
  const next = switchPlan(plan, after, current);
  if (next === plan) return at + 1;
  exchange.plan = next;
  holdPlan(exchange);
  return firstAfter(next.access, current);
}

function firstAfter(instances: readonly PluginInstance[], current: PluginInstance): number {
  const index = instances.findIndex((instance) => compareInstances(instance, current) > 0);
  return index < 0 ? instances.length : index;
}
