import { allProtocols, definePlugin, type Plugin } from '../../plugin-sdk/define-plugin.ts';
import type { Row } from '../../shared/entities/entity.ts';

/** Name of the plugin that keeps the log records of a test gateway. */
export const recorder = 'test-gateway-recorder';

/** It has no other phase than `log`, so the plugins under test see no difference. */
export function recordPlugin(keep: (record: Readonly<Record<string, unknown>>) => void): Plugin {
  return definePlugin<unknown>({
    name: recorder,
    version: '1.0.0',
    // After all others, so that it has what they add.
    priority: Number.MIN_SAFE_INTEGER,
    protocols: allProtocols,
    schema: () => Promise.reject(new Error('the recorder has no configuration')),
    setup: () => ({ log: (context) => keep(context.record()) }),
  });
}

/** Its global instance. */
export const recorderRow: Row = Object.freeze({
  id: '7f6b8c1e-0000-4000-9000-00000000fffe',
  created_at: 0,
  name: recorder,
  enabled: true,
  protocols: allProtocols,
  config: {},
  route: null,
  service: null,
  consumer: null,
});
