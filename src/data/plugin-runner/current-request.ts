import { Vital } from '../../shared/zones/worker-vitals.ts';
import type { Exchange } from '../request/exchange.ts';
import type { PluginInstance } from './plan.ts';

/**
 * The request whose phase this worker runs now, so that lines that a plugin logs in it name their request. It is known
 * until the plugin awaits something, and unknown afterwards: to keep it (`AsyncLocalStorage`) would cost every request
 * with plugins more than half a microsecond, and connections opened meanwhile would be attributed to the wrong request.
 */
let current: Exchange | null = null;

/**
 * This worker's row of the vitals, where the watchdog reads which plugin call does not return; private memory
 * elsewhere.
 */
let vitals: Float64Array = new Float64Array(Object.keys(Vital).length);

/** From now on every call of a plugin is written to this row (zones/worker-vitals.ts). */
export function showPluginCalls(row: Float64Array): void {
  vitals = row;
}

/**
 * A phase of the exchange begins: `phase` is a `PluginPhase`. Pass the returned value to `leave` once the plugin has
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

/** The same for a plugin call outside of any request. `instance` and `route` are marks. */
export function enterCall(phase: number, instance: number, route: number): void {
  vitals[Vital.phase] = phase;
  vitals[Vital.instance] = instance;
  vitals[Vital.route] = route;
}

export function leaveCall(): void {
  vitals[Vital.phase] = 0;
}

/** Id of the request whose phase runs; null: none. */
export function currentRequestId(): string | null {
  return current === null ? null : current.id;
}
