import type { AccessContext } from './contexts.ts';
import type { PluginTools } from './define-plugin.ts';
import { type Reply, replyJson } from './reply.ts';
import type { ConsumerView } from './request-views.ts';

type Outcome = Reply | undefined;

export interface AuthAccessOptions {
  /** Id or username of the consumer to go on with when there is no valid credential; null: refuse. */
  readonly anonymous: string | null | undefined;
  /** False: OPTIONS requests pass. Default true. */
  readonly runOnPreflight?: boolean;
  /**
   * Looks for a credential. On success it calls `context.authenticate` and returns nothing; otherwise it returns the
   * refusal: a 401, which the anonymous consumer may stand in for, or any other status, which it may not.
   */
  readonly attempt: (context: AccessContext) => Outcome | Promise<Outcome>;
}

/**
 * The access phase that all authentication plugins have in common (Kong's rules): with an anonymous consumer a request
 * that another plugin authenticated passes, and one without a valid credential goes on as that consumer.
 */
export function authAccess(
  tools: PluginTools,
  options: AuthAccessOptions,
): (context: AccessContext) => Outcome | Promise<Outcome> {
  const { anonymous = null, runOnPreflight = true, attempt } = options;
  return (context) => {
    if (!runOnPreflight && context.request.method === 'OPTIONS') return undefined;
    if (anonymous === null) return attempt(context);
    if (context.client.credential !== null) return undefined;
    const outcome = attempt(context);
    return outcome instanceof Promise
      ? outcome.then((settled) => orAnonymous(context, tools, anonymous, settled))
      : orAnonymous(context, tools, anonymous, outcome);
  };
}

function orAnonymous(
  context: AccessContext,
  tools: PluginTools,
  anonymous: string,
  outcome: Outcome,
): Outcome | Promise<Outcome> {
  if (outcome === undefined || outcome.status !== 401) return outcome;
  const found = tools.entities.consumer(anonymous);
  return found instanceof Promise
    ? found.then((consumer) => goOnAs(context, tools, anonymous, consumer))
    : goOnAs(context, tools, anonymous, found);
}

function goOnAs(context: AccessContext, tools: PluginTools, anonymous: string, consumer: ConsumerView | null): Outcome {
  if (consumer === null) {
    tools.log.error('the anonymous consumer does not exist', { anonymous });
    return replyJson(500, { message: 'An unexpected error occurred' });
  }
  context.authenticate(consumer, null);
  return undefined;
}
