import type { Exchange } from '../dataplane/exchange.ts';
import { PluginPhase } from '../zones/worker-vitals.ts';
import { beginPlugins } from './begin-plugins.ts';
import { enter, leave } from './current-request.ts';
import type { PluginInstance } from './plan.ts';
import { logFailure } from './plugin-failure.ts';

/** Who reads the body of one answer, and the largest that one of them takes, in bytes; 0: nobody does. */
export interface BodyReaders {
  readonly instances: readonly PluginInstance[];
  readonly limit: number;
}

/**
 * The plugins that the answer whose head is in the exchange is collected for. One that fails to say is taken to want it: what
 * it should have changed must not pass.
 */
export function bodyReaders(exchange: Exchange): BodyReaders {
  const { plan } = exchange;
  if (!plan.choosesBodies) return { instances: plan.response, limit: plan.responseBodyLimit };
  const context = beginPlugins(exchange);
  const instances = plan.response.filter((instance) => {
    const before = enter(exchange, instance, PluginPhase.wantsBody);
    try {
      return instance.phases.wantsBody?.(context) ?? true;
    } catch (error) {
      logFailure(exchange, instance, 'wantsBody', error);
      return true;
    } finally {
      leave(before);
    }
  });
  return { instances, limit: instances.reduce((most, instance) => Math.max(most, bodyLimit(instance)), 0) };
}

/** Bytes of an answer that the instance takes; 0: it does not need it whole. */
export function bodyLimit({ needs }: PluginInstance): number {
  return needs.responseBody?.mode === 'buffer' ? needs.responseBody.maxBytes : 0;
}
