import type { AccessContext } from '../../plugin-sdk/contexts.ts';
import { type Reply, replyJson } from '../../plugin-sdk/reply.ts';
import type { ConsumerView } from '../../plugin-sdk/request-views.ts';
import type { PluginTools } from '../../plugin-sdk/tools.ts';

type Outcome = Reply | undefined;

export interface AuthAccessOptions {
  /** Id or username of the consumer for requests without a valid credential; null: they are refused. */
  readonly anonymous: string | null | undefined;
  /** False: OPTIONS requests are accepted without a credential. Default: true. */
  readonly runOnPreflight?: boolean;
  /**
   * Checks the credential of the request. On success, calls `context.authenticate` and returns nothing. Otherwise, returns the
   * refusal: a 401 lets the anonymous consumer take over, any other status is final.
   */
  readonly attempt: (context: AccessContext) => Outcome | Promise<Outcome>;
}

/**
 * The access phase of authentication plugins by Kong's rules. With an anonymous consumer, a request that another plugin has
 * authenticated is accepted, and one without a valid credential continues as that consumer.
 *
 * @example
 * const access = authAccess(tools, { anonymous: config.anonymous, attempt: (context) => checkKey(context) });
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
