import type { PluginPhases, UpstreamTimeouts } from '../../plugin-sdk/index.ts';
import type { TimeoutsConfig } from './schema.ts';

export function setTimeouts(config: TimeoutsConfig): PluginPhases {
  const given = [
    ['connect', config.connect],
    ['send', config.send],
    ['firstByte', config.first_byte],
    ['idle', config.idle],
    ['total', config.total],
  ] as const;
  const timeouts: Partial<UpstreamTimeouts> = Object.freeze(
    Object.fromEntries(given.filter(([, milliseconds]) => milliseconds !== null)),
  );
  return {
    access(context) {
      context.upstream.setTimeouts(timeouts);
      return undefined;
    },
  };
}
