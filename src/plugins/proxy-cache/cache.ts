import type { HeaderFilterContext, PluginPhases, PluginTools } from '../../plugin-sdk/index.ts';
import type { AnswerStore } from './answer-store.ts';
import { Arrivals } from './arrivals.ts';
import { type CacheParts, cacheParts } from './parts.ts';
import { passageKey } from './passage.ts';
import type { CachePolicy } from './policy.ts';
import { Reception } from './reception.ts';

/** A shared HTTP cache (RFC 9111) in front of the backend, over a store. */
export function cacheOver(policy: CachePolicy, store: AnswerStore, tools: PluginTools): PluginPhases {
  const parts = cacheParts(policy, store, tools);
  const reception = new Reception(parts);
  const arrivals = new Arrivals(parts);
  return {
    access: (context) => reception.receive(context),
    backendAnswer: (context) => arrivals.arrived(context),
    backendFailure: (context) => arrivals.failed(context),
    headerFilter: (context) => tell(context, parts),
    log(context) {
      const passage = context.get(passageKey);
      if (passage === undefined) return;
      passage.over = true;
      // Another plugin may have answered, or the client may have gone.
      parts.land(passage);
    },
    dispose: () => store.close(),
  };
}

/** What clients learn of the cache from answers that are not from it. */
function tell(context: HeaderFilterContext, { policy }: CacheParts): void {
  const passage = context.get(passageKey);
  if (passage === undefined) return;
  const { response } = context;
  if (!policy.passesTags && response.source === 'upstream') {
    for (const name of policy.tagHeaders) if (response.header(name) !== null) response.removeHeader(name);
  }
  if (passage.told) return;
  if (policy.showsStatus) response.setHeader('X-Cache-Status', passage.status);
  if (policy.showsKey && passage.key !== '') response.setHeader('X-Cache-Key', passage.key);
}
