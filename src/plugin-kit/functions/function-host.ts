import type { BaseContext } from '../../plugin-sdk/contexts.ts';
import type { FunctionPhase } from './phases.ts';

/**
 * A compiled function. `text` and `last` are for `body_filter`. Returns what it returned: nothing, a reply, a text, or a promise.
 */
export type CompiledFunction = (context: BaseContext, text?: string, last?: boolean) => unknown;

/** Where the functions of one instance run. */
export interface FunctionHost {
  /**
   * Compiles a function and runs its outermost expression, once.
   *
   * @param index Position in the list of its phase, from 1.
   * @throws Error that names the function.
   */
  compile(phase: FunctionPhase, index: number, text: string): CompiledFunction;
}
