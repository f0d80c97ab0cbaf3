import { authAccess } from '../../plugin-kit/auth/index.ts';
import type { AccessContext, NoneAuthenticated, PluginPhases, PluginTools, Reply } from '../../plugin-sdk/index.ts';
import { refuse, replyJson } from '../../plugin-sdk/index.ts';
import type { AuthAnyConfig } from './schema.ts';

export function authenticateAny(config: AuthAnyConfig, tools: PluginTools): PluginPhases {
  const methods = new Set<string>(config.methods);
  const { anonymous, run_on_preflight: runOnPreflight } = config;
  const otherwise: NoneAuthenticated = (context, refusals, attempted) => {
    if (attempted === 0) {
      // Nobody can be let in, and nobody could do anything about a 401.
      tools.log.error('none of the methods is configured for the request', { methods: config.methods });
      return replyJson(500, { message: 'An unexpected error occurred' });
    }
    if (isAnonymous(context)) return undefined;
    return authAccess(tools, { anonymous, runOnPreflight, attempt: () => combined(refusals) })(context);
  };
  return {
    access(context: AccessContext): undefined {
      context.authenticateWithAny(methods, otherwise);
    },
  };
}

/** One of the methods has its own anonymous consumer, which the request continues as. */
function isAnonymous({ client }: AccessContext): boolean {
  return client.consumer !== null && client.credential === null;
}

/** One refusal with the challenges of all (RFC 9110 11.6.1: each on its own line). */
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
