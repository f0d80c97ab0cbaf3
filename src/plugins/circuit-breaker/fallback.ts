import { type AccessContext, type Reply, reply } from '../../plugin-sdk/index.ts';
import type { CircuitBreakerConfig } from './schema.ts';
import type { StaleAnswers } from './stale-answers.ts';

/** The reply to a request that an open circuit rejects; null: the gateway's 503. */
export type Fallback = () => { readonly upstream: string } | { readonly reply: Reply } | null;

/** Creates the fallback of a request; null: no fallback is configured. */
export function fallbackOf(
  config: CircuitBreakerConfig,
  stale: StaleAnswers | null,
): ((context: AccessContext) => Fallback) | null {
  switch (config.fallback) {
    case 'answer': {
      const headers = { 'Content-Type': config.fallback_content_type };
      const answer = { reply: reply({ status: config.fallback_status, headers, body: config.fallback_body ?? '' }) };
      return () => () => answer;
    }
    case 'upstream': {
      const upstream = { upstream: config.fallback_upstream ?? '' };
      return () => () => upstream;
    }
    case 'stale':
      return (context) => () => {
        const found = stale?.find(context) ?? null;
        return found === null ? null : { reply: found };
      };
    default:
      return null;
  }
}
