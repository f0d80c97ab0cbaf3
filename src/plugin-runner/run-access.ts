import type { Exchange } from '../dataplane/exchange.ts';
import type { RequestContext } from '../dataplane/request-context.ts';
import type { ConsumerView } from '../plugin-sdk/contexts.ts';
import type { Reply } from '../plugin-sdk/reply.ts';
import { beginPlugins, holdPlan } from './begin-plugins.ts';
import { compareInstances } from './build-plan.ts';
import type { PluginInstance } from './plan.ts';
import { failedReply, isPromise, type PhaseResult } from './plugin-failure.ts';
import { switchPlan } from './switch-plan.ts';

/** The access phase of the exchange's plan. A `Reply` ends it: the rest of the handlers are not asked. */
export function runAccess(exchange: Exchange): PhaseResult {
  if (exchange.plan.access.length === 0) return undefined;
  return runFrom(exchange, beginPlugins(exchange), 0);
}

/** Synchronous until a plugin returns a promise. */
function runFrom(exchange: Exchange, context: RequestContext, first: number): PhaseResult {
  let at = first;
  while (at < exchange.plan.access.length) {
    const instance = exchange.plan.access[at]!;
    const consumer = exchange.consumer;
    let result: PhaseResult;
    try {
      result = instance.phases.access?.(context);
    } catch (error) {
      return failedReply(exchange, instance, 'access', error);
    }
    if (isPromise(result)) return goOnAfter(exchange, context, at, consumer, result);
    const next = followConsumer(exchange, at, consumer);
    if (result !== undefined) return result;
    at = next;
  }
  return undefined;
}

async function goOnAfter(
  exchange: Exchange,
  context: RequestContext,
  at: number,
  consumer: ConsumerView | null,
  pending: Promise<Reply | undefined>,
): Promise<Reply | undefined> {
  const instance = exchange.plan.access[at]!;
  let result: Reply | undefined;
  try {
    result = await pending;
  } catch (error) {
    return failedReply(exchange, instance, 'access', error);
  }
  if (exchange.finished) return undefined;
  const next = followConsumer(exchange, at, consumer);
  return result ?? runFrom(exchange, context, next);
}

/** Takes the consumer's plan when the plugin at `at` has named another consumer. Returns whose turn is next. */
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
