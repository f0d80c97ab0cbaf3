import type { BodyTransform } from '../../plugin-sdk/response-views.ts';
import { monotonic } from '../../shared/util/time/clock.ts';
import { PluginPhase } from '../../shared/zones/worker-vitals.ts';
import type { Exchange } from '../request/exchange.ts';
import { beginPlugins } from './begin-plugins.ts';
import { enter, leave } from './current-request.ts';
import type { PluginInstance } from './plan.ts';
import { logFailure } from './plugin-failure.ts';
import { checkedPiece } from './wrong-result.ts';

/**
 * The transforms of all plugins for this response as one, or null when none changes it. It throws when one of them
 * fails: the transfer must be aborted then, because the bytes were meant to be changed.
 */
export function startBodyFilters(exchange: Exchange): BodyTransform | null {
  const { bodyFilter } = exchange.plan;
  if (bodyFilter.length === 0) return null;
  const context = beginPlugins(exchange);
  const stages: Stage[] = [];
  for (const instance of bodyFilter) {
    const transform = guarded(exchange, instance, () => instance.phases.bodyFilter?.(context) ?? null);
    if (transform !== null) stages.push({ instance, transform });
  }
  return stages.length === 0 ? null : new BodyFilterChain(exchange, stages);
}

interface Stage {
  readonly instance: PluginInstance;
  readonly transform: BodyTransform;
}

class BodyFilterChain implements BodyTransform {
  readonly #exchange: Exchange;
  readonly #stages: readonly Stage[];
  readonly keepsTrailers: boolean;

  constructor(exchange: Exchange, stages: readonly Stage[]) {
    this.#exchange = exchange;
    this.#stages = stages;
    this.keepsTrailers = stages.some(({ transform }) => transform.keepsTrailers === true);
  }

  chunk(piece: Uint8Array): Uint8Array | null {
    return this.#through(piece, 0);
  }

  end(trailers: Readonly<Record<string, readonly string[]>>): Uint8Array | null {
    let tail: Uint8Array | null = null;
    for (let at = 0; at < this.#stages.length; at++) {
      const { instance, transform } = this.#stages[at]!;
      const rest = guarded(this.#exchange, instance, () => checkedPiece(transform.end(trailers)));
      // What a stage had held back passes through the later stages before those end.
      tail = joined(tail, rest === null ? null : this.#through(rest, at + 1));
    }
    return tail;
  }

  #through(piece: Uint8Array, first: number): Uint8Array | null {
    let current: Uint8Array | null = piece;
    for (let at = first; at < this.#stages.length && current !== null; at++) {
      const { instance, transform } = this.#stages[at]!;
      const input: Uint8Array = current;
      current = guarded(this.#exchange, instance, () => checkedPiece(transform.chunk(input)));
    }
    return current === null || current.byteLength === 0 ? null : current;
  }
}

function guarded<T>(exchange: Exchange, instance: PluginInstance, call: () => T): T {
  const before = enter(exchange, instance, PluginPhase.bodyFilter);
  const began = exchange.timed ? monotonic() : 0;
  try {
    return call();
  } catch (error) {
    logFailure(exchange, instance, 'bodyFilter', error);
    throw error;
  } finally {
    leave(before);
    if (began > 0) instance.meter.sampled(PluginPhase.bodyFilter, monotonic() - began);
  }
}

function joined(first: Uint8Array | null, second: Uint8Array | null): Uint8Array | null {
  if (first === null) return second;
  return second === null ? first : Buffer.concat([first, second]);
}
