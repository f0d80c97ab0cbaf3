import { contextKey, type PluginPhases, type PluginTools } from '../../plugin-sdk/index.ts';
import { RequestRetries, type RetryRules } from './request-retries.ts';
import { RetryBudget } from './retry-budget.ts';
import type { RetriesConfig } from './schema.ts';

const retriesKey = contextKey<RequestRetries>('retries');
const none: ReadonlySet<number> = new Set();

export function retryRequests(config: RetriesConfig, tools: PluginTools): PluginPhases {
  const on = new Set(config.on);
  const rules: RetryRules = {
    retries: config.retries,
    onConnectFailure: on.has('connect-failure'),
    onTimeout: on.has('timeout'),
    onBrokenAnswer: on.has('broken-answer'),
    statuses: on.has('status') ? new Set(config.statuses) : none,
    methods: new Set(config.methods),
    tryTimeout: config.try_timeout,
    backoff: config.backoff,
    backoffMax: config.backoff_max,
    deadlineHeader: config.deadline_header,
    budget: new RetryBudget(tools, { percent: config.budget_percent, min: config.budget_min }),
    count: (name) => tools.count(name),
  };
  const times = config.total_timeout > 0 ? { total: config.total_timeout } : null;
  return {
    access(context) {
      const retries = new RequestRetries(rules, context.service?.id ?? '');
      context.set(retriesKey, retries);
      context.upstream.setRetries(retries);
      if (times !== null) context.upstream.setTimeouts(times);
      return undefined;
    },
    // Runs once for each request, whatever its outcome.
    log(context) {
      const retries = context.get(retriesKey);
      if (retries === undefined) return;
      retries.close();
      if (retries.made > 0) context.log('retries', retries.made);
    },
  };
}
