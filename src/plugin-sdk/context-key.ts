import type { ContextKey } from './contexts.ts';

/** A place for a value of type `T` in the context of a request. Made once, when the module is loaded. */
export function contextKey<T>(name: string): ContextKey<T> {
  return Object.freeze({ name, symbol: Symbol(name) });
}
