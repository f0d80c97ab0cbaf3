import {
  type AccessContext,
  contextKey,
  type HeaderFilterContext,
  type PluginPhases,
  type PluginTools,
  type Reply,
  refuse,
} from 'sluicegate/plugin-sdk';
import type { HelloConfig } from './schema.ts';

const greeted = contextKey<string>('hello');

/** Greets the client that gives its name in the query: `?name=Ada`. */
export function greet(config: HelloConfig, tools: PluginTools): PluginPhases {
  // Once per configuration, not per request.
  const banned = new Set(config.banned);
  return {
    access(context: AccessContext): Reply | undefined {
      const name = context.request.queryArgument('name') ?? 'stranger';
      if (banned.has(name)) {
        tools.log.info('refused', { name, request_id: context.request.id });
        return refuse(config.status, `No greetings for ${name}`);
      }
      context.set(greeted, name);
      context.upstream.setHeader('X-Greeted', name);
      context.log('greeted', name);
      return undefined;
    },
    headerFilter(context: HeaderFilterContext): void {
      const name = context.get(greeted);
      if (name !== undefined) context.response.setHeader('X-Hello', `${config.greeting}, ${name}!`);
    },
  };
}
