import { clientKey, limiterGuard } from '../../plugin-kit/limits/index.ts';
import type { AccessContext, PluginPhases, PluginTools, Reply, WindowVerdict } from '../../plugin-sdk/index.ts';
import { contextKey, refuse } from '../../plugin-sdk/index.ts';
import { limitsOf, namespaceOf, type QuotaPeriod } from './quota.ts';
import type { QuotasConfig } from './schema.ts';
import { countersZone } from './zones.ts';

const headerNames: Readonly<Record<QuotaPeriod, { readonly limit: string; readonly remaining: string }>> = {
  day: { limit: 'X-Quota-Limit-Day', remaining: 'X-Quota-Remaining-Day' },
  month: { limit: 'X-Quota-Limit-Month', remaining: 'X-Quota-Remaining-Month' },
};

const verdictKey = contextKey<WindowVerdict>('verdict');

export function enforceQuotas(config: QuotasConfig, tools: PluginTools): PluginPhases {
  const guard = limiterGuard(tools, config.fault_tolerant);
  const limits = limitsOf(config);
  const headers = limits.map(({ period }) => headerNames[period]);
  const identify = clientKey(config.limit_by, { ipv6Prefix: config.ipv6_prefix });
  const limiter = tools.limits.windows({
    namespace: namespaceOf(tools.instanceId),
    limits,
    policy: 'cluster',
    // What `/consumers/{consumer}/quotas` shows is what was accepted, and a reset leaves no leases on the nodes.
    exact: true,
    zone: countersZone,
    whenUnavailable: config.fault_tolerant ? 'local' : 'reject',
    onUnavailable: guard.report,
  });

  function decide(context: AccessContext, verdict: WindowVerdict): undefined | Reply {
    context.set(verdictKey, verdict);
    if (verdict.allowed) return undefined;
    tools.count('rejected');
    const reset = verdict.windows[verdict.violated]?.reset ?? 1;
    const retryAfter = config.hide_client_headers ? {} : { 'Retry-After': String(reset) };
    return refuse(config.error_code, config.error_message, retryAfter);
  }

  const phases: PluginPhases = {
    access(context) {
      const verdict = limiter.take(identify(context));
      return verdict instanceof Promise
        ? guard.settle(verdict, (settled) => decide(context, settled))
        : decide(context, verdict);
    },
    dispose: () => limiter.close(),
  };
  if (config.hide_client_headers) return phases;
  return {
    ...phases,
    headerFilter(context) {
      const verdict = context.get(verdictKey);
      if (verdict === undefined) return;
      for (const [at, window] of verdict.windows.entries()) {
        const names = headers[at];
        if (names === undefined) continue;
        context.response.setHeader(names.limit, String(window.limit));
        context.response.setHeader(names.remaining, String(window.remaining));
      }
    },
  };
}
