import { PluginPhase } from '../../shared/zones/worker-vitals.ts';
import type { Exchange } from '../request/exchange.ts';
import { beginPlugins } from './begin-plugins.ts';
import { enter, leave } from './current-request.ts';
import type { PluginInstance } from './plan.ts';
import { logFailure } from './plugin-failure.ts';

/**
 * The plugins that read the body of one response, and the largest size that one of them accepts, in bytes; 0: no plugin
 * reads it.
 */
export interface BodyReaders {
  readonly instances: readonly PluginInstance[];
  readonly limit: number;
}

/**
 * The plugins that need the body of the response whose head is in the exchange. One that fails to decide is assumed to
 * need it: a body that it should have changed must not pass.
 */
export function bodyReaders(exchange: Exchange): BodyReaders {
  const { plan } = exchange;
  if (!plan.choosesBodies) return { instances: plan.response, limit: plan.responseBodyLimit };
  const context = beginPlugins(exchange);
  const instances = plan.response.filter((instance) => {
    const before = enter(exchange, instance, PluginPhase.shouldBufferResponse);
    try {
      return instance.phases.shouldBufferResponse?.(context) ?? true;
    } catch (error) {
      logFailure(exchange, instance, 'shouldBufferResponse', error);
      return true;
    } finally {
      leave(before);
    }
  });
  return { instances, limit: instances.reduce((most, instance) => Math.max(most, bodyLimit(instance)), 0) };
}

/** Maximum body in bytes that the instance accepts; 0: it does not need it buffered. */
export function bodyLimit({ needs }: PluginInstance): number {
  return needs.responseBody?.mode === 'buffer' ? needs.responseBody.maxBytes : 0;
}
