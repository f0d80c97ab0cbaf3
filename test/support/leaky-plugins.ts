import { definePlugin, httpProtocols, type PluginPhases, type PluginTools } from '../../src/plugin-sdk/index.ts';
import { record, string } from '../../src/plugin-sdk/schema.ts';

function plugin(setup: (tools: PluginTools) => PluginPhases) {
  return definePlugin<{ readonly mark: string }>({
    name: 'leaky',
    version: '1.0.0',
    priority: 700,
    protocols: httpProtocols,
    schema: { config: record({ mark: string({ required: true, default: 'a', description: 'Nothing.' }) }) },
    setup: (_, tools) => setup(tools),
  });
}

const requests: unknown[] = [];
const byId = new Map<string, string>();
const listeners: (() => void)[] = [];
const tables: unknown[] = [];
const bounded = new Map<string, string>();

/** Plugins that leak, by what they leak. */
export const leaky = {
  requests: plugin(() => ({
    access(context) {
      requests.push({ path: context.request.path, at: Date.now() });
    },
  })),
  ids: plugin(() => ({
    log(context) {
      byId.set(context.request.id, 'seen');
    },
  })),
  intervals: plugin(() => {
    setInterval(() => {}, 1_000).unref();
    return {};
  }),
  timeouts: plugin(() => ({
    access() {
      setTimeout(() => {}, 2_000_000_000);
    },
  })),
  listeners: plugin(() => {
    const listener = (): void => {};
    listeners.push(listener);
    process.on('SIGWINCH', listener);
    return {};
  }),
  tables: plugin(() => {
    tables.push(new Array(500).fill(0).map((_, at) => ({ at })));
    return {};
  }),
};

/** Removes the listeners that the leaky plugin has left behind. */
export function removeListeners(): void {
  for (const listener of listeners.splice(0)) process.off('SIGWINCH', listener);
}

/** A plugin that looks like all of those, and cleans up. */
export const tidy = plugin(() => {
  const timer = setInterval(() => {}, 1_000);
  const listener = (): void => {};
  process.on('SIGWINCH', listener);
  return {
    access(context) {
      bounded.set(context.request.path, context.request.id);
    },
    headerFilter: (context) => context.response.setHeader('X-Seen', String(bounded.size)),
    dispose() {
      clearInterval(timer);
      process.off('SIGWINCH', listener);
    },
  };
});
