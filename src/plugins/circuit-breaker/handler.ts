import { sharedStore } from '../../plugin-kit/shared-memory/index.ts';
import type { AccessContext, CircuitChange, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { contextKey, refuse } from '../../plugin-sdk/index.ts';
import type { ChangeMessage } from './background.ts';
import { fallbackOf } from './fallback.ts';
import { type CallRules, RequestGuard } from './guard.ts';
import type { CircuitBreakerConfig } from './schema.ts';
import { StaleAnswers } from './stale-answers.ts';
import { answersZone, circuitsZone } from './zones.ts';

const guardKey = contextKey<RequestGuard>('guard');
/** The request continued without its service, whose circuit is open. */
const fellBackKey = contextKey<boolean>('fell back');

export function breakCircuits(config: CircuitBreakerConfig, tools: PluginTools): PluginPhases {
  const perService = config.per.includes('service');
  const rules = rulesOf(config, tools);
  const stale =
    config.fallback === 'stale'
      ? new StaleAnswers({
          store: sharedStore(tools.zone(answersZone), { worker: tools.node.worker, namespace: `${tools.instanceId} ` }),
          maxAge: config.stale_max_age * 1000,
          maxBody: config.stale_max_body,
        })
      : null;
  const fallback = fallbackOf(config, stale);
  const open = refuse(503, 'The upstream server is currently unavailable', { 'Retry-After': '1' });

  function guard(context: AccessContext, serviceTrial: boolean): void {
    const made = new RequestGuard(rules, fallback === null ? null : fallback(context), serviceTrial);
    context.set(guardKey, made);
    context.upstream.watchAttempts(made);
  }

  /** The circuit of the service is open. */
  function withoutService(context: AccessContext): Reply | undefined {
    rules.rejected();
    const way = fallback === null ? null : fallback(context)();
    if (way === null) return open;
    if ('reply' in way) return way.reply;
    if (!context.upstream.setUpstream(way.upstream)) return open;
    context.set(fellBackKey, true);
    return undefined;
  }

  const phases: PluginPhases = {
    access(context) {
      const { service } = context;
      stale?.note(context);
      if (!perService || service === null) {
        guard(context, false);
        return undefined;
      }
      const { admitted, trial, change } = rules.circuits.admit(serviceKey(service.id));
      if (change !== null) rules.changed(serviceKey(service.id), service.name ?? service.id, change);
      if (!admitted) return withoutService(context);
      guard(context, trial);
      return undefined;
    },
    // Runs once for each request, whatever its outcome.
    log(context) {
      const { service } = context;
      const made = context.get(guardKey);
      if (context.get(fellBackKey) === true) context.log('circuit', 'fallback');
      if (made === undefined) return;
      made.close();
      if (!perService || service === null) return;
      const { result } = made;
      const key = serviceKey(service.id);
      if (result !== null) {
        const change = rules.circuits.report(key, result, made.serviceTrial);
        if (change !== null) rules.changed(key, service.name ?? service.id, change);
      } else if (made.serviceTrial) rules.circuits.release(key);
    },
  };
  return stale === null ? phases : { ...phases, backendAnswer: (context) => stale.keep(context) };
}

function serviceKey(id: string): string {
  return `whole ${id}`;
}

function rulesOf(config: CircuitBreakerConfig, tools: PluginTools): CallRules {
  const circuits = tools.limits.circuits({
    namespace: `circuit-breaker:${tools.instanceId}`,
    zone: circuitsZone,
    window: config.window * 1000,
    minCalls: config.min_calls,
    errorRatio: config.error_ratio / 100,
    slowRatio: config.slow_ratio / 100,
    consecutive: config.consecutive_failures,
    pause: config.pause * 1000,
    pauseMax: config.pause_max * 1000,
    trials: config.trials,
    ramp: config.ramp * 1000,
  });
  return {
    circuits,
    perTarget: config.per.includes('target'),
    failureStatuses: new Set(config.failure_statuses),
    slowCall: config.slow_call,
    changed: (key, what, change) => report(tools, key, what, change),
    rejected: () => tools.count('rejected'),
  };
}

function report(tools: PluginTools, key: string, what: string, { state, reason, pause }: CircuitChange): void {
  tools.count(state.replace('-', '_'));
  const fields = { circuit: what, reason, ...(pause > 0 ? { pause_ms: Math.round(pause) } : {}) };
  if (state === 'open') tools.log.warn('a circuit has opened', fields);
  else tools.log.info(`a circuit is ${state}`, fields);
  const message: ChangeMessage = { instance: tools.instanceId, key, what, state, reason, pause };
  // Only a report: a busy control plane does not affect the circuit.
  tools.background(message).catch(() => {});
}
