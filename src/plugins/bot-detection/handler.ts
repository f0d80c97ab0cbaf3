import { BoundedCache, compileRegex } from '../../plugin-kit/runtime/index.ts';
import { type AccessContext, type PluginPhases, type Reply, refuse } from '../../plugin-sdk/index.ts';
import { isKnownBot } from './known-bots.ts';
import type { BotDetectionConfig } from './schema.ts';

const cachedAgents = 1000;
/** Longer values are not cached, so that a client cannot fill the memory. */
const maxCachedLength = 512;

export function detectBots(config: BotDetectionConfig): PluginPhases {
  const allow = (config.allow ?? []).map((source) => compileRegex(source));
  const deny = (config.deny ?? []).map((source) => compileRegex(source));
  const known = new BoundedCache<string, boolean>(cachedAgents);
  const isRefused = (agent: string): boolean => {
    if (allow.some((pattern) => pattern.test(agent))) return false;
    return deny.some((pattern) => pattern.test(agent)) || isKnownBot(agent);
  };
  return {
    access({ request }: AccessContext): Reply | undefined {
      const agents = request.headerValues('user-agent');
      const agent = agents[0];
      if (agent === undefined) return undefined;
      if (agents.length > 1) return refuse(400, 'Only one User-Agent header allowed');
      let refused = known.get(agent);
      if (refused === undefined) {
        refused = isRefused(agent);
        if (agent.length <= maxCachedLength) known.set(ownCopy(agent), refused);
      }
      return refused ? refuse(403, 'Forbidden') : undefined;
    },
  };
}

/** A header value is a slice of the whole head, which the cache would keep in memory. */
function ownCopy(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}
