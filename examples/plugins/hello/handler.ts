import {
  type AccessContext,
  contextKey,
  type HeaderFilterContext,
  type PluginPhases,
  type PluginTools,
  type Reply,
  refuse,
} from '../../../src/plugin-sdk/index.ts';
import type { HelloConfig } from './schema.ts';

const greeted = contextKey<string>('hello');

/** Greets the caller that names itself in the query: `?name=Ada`. */
export function greet(config: HelloConfig, tools: PluginTools): PluginPhases {
  // Once for each configuration; requests only look things up.
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
