import type { Reply } from '../../plugin-sdk/reply.ts';
import type { AnswerTap } from '../../plugin-sdk/response-views.ts';
import { PluginPhase } from '../../shared/zones/worker-vitals.ts';
import type { Exchange } from '../request/exchange.ts';
import { beginPlugins } from './begin-plugins.ts';
import { enter, leave } from './current-request.ts';
import type { PluginInstance } from './plan.ts';
import { logFailure } from './plugin-failure.ts';

/**
 * The head of a backend's response is in the exchange, unchanged. Leaves the taps of plugins there (`tap`), or returns
 * the reply of a plugin that replaces the response. A plugin that fails is logged, and the response continues.
 */
export function runBackendAnswer(exchange: Exchange): Reply | null {
  const context = beginPlugins(exchange);
  const taps: AnswerTap[] = [];
  for (const instance of exchange.plan.backendAnswer) {
    const before = enter(exchange, instance, PluginPhase.backendAnswer);
    try {
      const result = instance.phases.backendAnswer?.(context) ?? null;
      if (result === null) continue;
      if (isTap(result)) taps.push(new GuardedTap(exchange, instance, result));
      else {
        for (const tap of taps) tap.aborted();
        return result;
      }
    } catch (error) {
      logFailure(exchange, instance, 'backendAnswer', error);
    } finally {
      leave(before);
    }
  }
  if (taps.length > 0) exchange.tap = taps.length === 1 ? (taps[0] as AnswerTap) : new TapSet(taps);
  return null;
}

/** No backend has answered: returns a plugin's reply instead of the error, or null. */
export function runBackendFailure(exchange: Exchange, status: number): Reply | null {
  const context = beginPlugins(exchange);
  for (const instance of exchange.plan.backendFailure) {
    const before = enter(exchange, instance, PluginPhase.backendFailure);
    try {
      const reply = instance.phases.backendFailure?.(context, status) ?? null;
      if (reply !== null) return reply;
    } catch (error) {
      logFailure(exchange, instance, 'backendFailure', error);
    } finally {
      leave(before);
    }
  }
  return null;
}

function isTap(result: AnswerTap | Reply): result is AnswerTap {
  return 'chunk' in result;
}

/** A tap that fails is not called again; it only copies, so the response continues. */
class GuardedTap implements AnswerTap {
  readonly #exchange: Exchange;
  readonly #instance: PluginInstance;
  #tap: AnswerTap | null;

  constructor(exchange: Exchange, instance: PluginInstance, tap: AnswerTap) {
    this.#exchange = exchange;
    this.#instance = instance;
    this.#tap = tap;
  }

  chunk(piece: Uint8Array): void {
    const before = enter(this.#exchange, this.#instance, PluginPhase.backendAnswer);
    try {
      this.#tap?.chunk(piece);
    } catch (error) {
      this.#failed(error);
    } finally {
      leave(before);
    }
  }

  end(): void {
    const before = enter(this.#exchange, this.#instance, PluginPhase.backendAnswer);
    try {
      this.#tap?.end();
    } catch (error) {
      this.#failed(error);
    } finally {
      leave(before);
    }
  }

  aborted(): void {
    const before = enter(this.#exchange, this.#instance, PluginPhase.backendAnswer);
    try {
      this.#tap?.aborted();
    } catch (error) {
      this.#failed(error);
    } finally {
      leave(before);
    }
  }

  #failed(error: unknown): void {
    const tap = this.#tap;
    this.#tap = null;
    logFailure(this.#exchange, this.#instance, 'backendAnswer', error);
    try {
      tap?.aborted();
    } catch {
      // It has failed already.
    }
  }
}

class TapSet implements AnswerTap {
  readonly #taps: readonly AnswerTap[];

  constructor(taps: readonly AnswerTap[]) {
    this.#taps = taps;
  }

  chunk(piece: Uint8Array): void {
    for (const tap of this.#taps) tap.chunk(piece);
  }

  end(): void {
    for (const tap of this.#taps) tap.end();
  }

  aborted(): void {
    for (const tap of this.#taps) tap.aborted();
  }
}
