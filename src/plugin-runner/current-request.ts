import type { Exchange } from '../dataplane/exchange.ts';
import { Vital } from '../zones/worker-vitals.ts';
import type { PluginInstance } from './plan.ts';

/**
 * Whose phase this worker runs just now, so that lines that a plugin writes in it tell of which request they are. It is known
 * until the plugin waits for something, and unknown afterwards: to know it then would cost every request that plugins
 * run for more than half a microsecond (`AsyncLocalStorage`), and connections opened meanwhile would go by the wrong request.
 */
let current: Exchange | null = null;

/** This worker's row of the vitals, where the watchdog reads which plugin does not return; private memory elsewhere. */
let vitals: Float64Array = new Float64Array(Object.keys(Vital).length);

/** From now on every call of a plugin is written to this row (zones/worker-vitals.ts). */
export function showPluginCalls(row: Float64Array): void {
  vitals = row;
}

/**
 * A phase of the exchange begins: `phase` is a `PluginPhase`. Returns a value to pass to `leave` once the plugin has
 * returned or thrown.
 */
export function enter(exchange: Exchange, instance: PluginInstance, phase: number): Exchange | null {
  const before = current;
  current = exchange;
  vitals[Vital.phase] = phase;
  vitals[Vital.instance] = instance.mark;
  vitals[Vital.route] = exchange.route === null ? 0 : exchange.route.mark;
  return before;
}

export function leave(before: Exchange | null): void {
  current = before;
  vitals[Vital.phase] = 0;
}

/** The same for a call of a plugin that belongs to no request. `instance` and `route` are marks. */
export function enterCall(phase: number, instance: number, route: number): void {
  vitals[Vital.phase] = phase;
  vitals[Vital.instance] = instance;
  vitals[Vital.route] = route;
}

export function leaveCall(): void {
  vitals[Vital.phase] = 0;
}

/** Id of the request whose phase runs; null: none does. */
export function currentRequestId(): string | null {
  return current === null ? null : current.id;
}
