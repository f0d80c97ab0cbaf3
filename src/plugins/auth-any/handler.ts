import {
  type AccessContext,
  authAccess,
  type NoneOf,
  type PluginPhases,
  type PluginTools,
  type Reply,
  refuse,
  replyJson,
} from '../../plugin-sdk/index.ts';
import type { AuthAnyConfig } from './schema.ts';

export function tryAny(config: AuthAnyConfig, tools: PluginTools): PluginPhases {
  const methods = new Set<string>(config.methods);
  const { anonymous, run_on_preflight: runOnPreflight } = config;
  const otherwise: NoneOf = (context, refusals, asked) => {
    if (asked === 0) {
      // Nobody can be let in, and nobody could do anything about a 401.
      tools.log.error('none of the methods is configured for the request', { methods: config.methods });
      return replyJson(500, { message: 'An unexpected error occurred' });
    }
    if (isAnonymous(context)) return undefined;
    return authAccess(tools, { anonymous, runOnPreflight, attempt: () => combined(refusals) })(context);
  };
  return {
    access(context: AccessContext): undefined {
      context.anyOf(methods, otherwise);
    },
  };
}

/** One of the methods has an anonymous consumer of its own, and went on as that. */
function isAnonymous({ client }: AccessContext): boolean {
  return client.consumer !== null && client.credential === null;
}

/** One refusal with the challenges of all (RFC 9110 11.6.1: each in a line of its own). */
function combined(refusals: readonly Reply[]): Reply {
  const challenges = new Set<string>();
  for (const { headers } of refusals) {
    for (const [name, value] of headers) {
      if (name.toLowerCase() === 'www-authenticate') challenges.add(value);
    }
  }
  return refuse(
    401,
    'Unauthorized',
    [...challenges].map((challenge) => ['WWW-Authenticate', challenge] as const),
  );
}
