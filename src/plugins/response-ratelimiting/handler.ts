import { clientKey, limiterGuard } from '../../plugin-kit/limits/index.ts';
import {
  type AccessContext,
  type BodyTransform,
  contextKey,
  type HeaderFilterContext,
  type PluginPhases,
  type PluginTools,
  type Reply,
  refuse,
} from '../../plugin-sdk/index.ts';
import { parseCosts } from './costs.ts';
import { type CountedLimit, countedLimits } from './counted-limits.ts';
import type { ResponseRatelimitingConfig } from './schema.ts';
import { Usage } from './usage.ts';

const usageKey = contextKey<Usage>('usage');

/** Counts the costs that responses report, and refuses requests beyond the limits. */
export function limitByResponse(config: ResponseRatelimitingConfig, tools: PluginTools): PluginPhases {
  const guard = limiterGuard(tools, config.fault_tolerant);
  const limits = countedLimits(config, tools, guard.report);
  const identify = clientKey(config.limit_by ?? 'consumer');
  const names = new Set(limits.map((limit) => limit.name));
  const headerName = config.header_name ?? 'x-kong-limit';

  function begin(context: AccessContext, usage: Usage): undefined | Reply {
    context.set(usageKey, usage);
    if (!config.block_on_first_violation) return undefined;
    const full = usage.firstFull();
    if (full === null) return undefined;
    tools.count('rejected');
    return refuse(429, `API rate limit exceeded for '${full.name}'`);
  }

  /** False when a limit that the response counts against is exhausted: then its body is not sent. */
  function count(usage: Usage, costs: ReadonlyMap<string, number>): boolean {
    usage.lookAgain();
    if (usage.looks.some(({ limit, verdict }) => costs.has(limit.name) && !verdict.allowed)) return false;
    return usage.looks.every(({ limit }) => countOne(limit, usage.key, costs.get(limit.name) ?? 0));
  }

  function countOne({ limiter, isLocal }: CountedLimit, key: string, cost: number): boolean {
    if (cost === 0) return true;
    if (isLocal) {
      // Only the atomic step includes requests that other workers allowed since the check. The last response may cost more
      // than remains.
      const first = limiter.take(key);
      if (first instanceof Promise || !first.allowed) return false;
      if (cost > 1) void limiter.add(key, cost - 1);
      return true;
    }
    // No request waits for it: the response is already being sent.
    const counted = limiter.add(key, cost);
    if (counted instanceof Promise) counted.catch(guard.report);
    return true;
  }

  return {
    access(context) {
      const usage = Usage.look(limits, identify(context));
      return usage instanceof Promise
        ? guard.settle(usage, (settled) => begin(context, settled))
        : begin(context, usage);
    },
    headerFilter(context) {
      const { response } = context;
      const costs = response.source === 'upstream' ? parseCosts(response.headerValues(headerName), names) : noCosts;
      if (response.source === 'upstream') response.removeHeader(headerName);
      const usage = context.get(usageKey);
      if (usage === undefined) return;
      const counted = costs.size === 0 || count(usage, costs);
      if (!config.hide_client_headers) showUsage(context, usage, costs);
      if (counted) return;
      usage.refused = true;
      tools.count('rejected');
      response.setStatus(429);
      for (const name of headersOfBody) response.removeHeader(name);
    },
    bodyFilter: (context) => (context.get(usageKey)?.refused === true ? nothing : null),
    dispose() {
      for (const { limiter } of limits) limiter.close();
    },
  };
}

const noCosts: ReadonlyMap<string, number> = new Map();

/** Headers that describe the body that is not sent. */
const headersOfBody = [
  'Content-Type',
  'Content-Encoding',
  'Content-Language',
  'ETag',
  'Last-Modified',
  'Accept-Ranges',
];

const nothing: BodyTransform = Object.freeze({ chunk: () => null, end: () => null });

function showUsage({ response }: HeaderFilterContext, usage: Usage, costs: ReadonlyMap<string, number>): void {
  for (const { limit, verdict, remaining } of usage.looks) {
    response.setHeader(limit.remainingHeader, String(remaining));
    const cost = costs.get(limit.name) ?? 0;
    for (const [at, window] of verdict.windows.entries()) {
      const headers = limit.windowHeaders[at];
      if (headers === undefined) continue;
      response.setHeader(headers.limit, String(window.limit));
      response.setHeader(headers.remaining, String(Math.max(0, window.remaining - cost)));
    }
  }
}
