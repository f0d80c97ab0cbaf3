import type { BaseContext } from '../../plugin-sdk/contexts.ts';
import type { Reply } from '../../plugin-sdk/reply.ts';
import type { CompiledFunction } from './function-host.ts';
import { namedError } from './named-error.ts';

/** A function with the name that errors show: `pre-function access[1]`. */
export interface NamedFunction {
  readonly name: string;
  readonly run: CompiledFunction;
}

/** Runs the functions in their order until one of them answers. Without a promise until one of them returns a promise. */
export function replyOrPromise(
  functions: readonly NamedFunction[],
  context: BaseContext,
): Reply | undefined | Promise<Reply | undefined> {
  for (let at = 0; at < functions.length; at++) {
    const { run, name } = functions[at]!;
    let result: unknown;
    try {
      result = run(context);
    } catch (error) {
      throw namedError(name, error);
    }
    // Only an object can be a reply or a promise: `(context) => context.request.header('x') === null && refuse(400, 'x')`.
    if (typeof result !== 'object' || result === null) continue;
    if (isPromise(result)) return continueAfter(functions, context, at, result);
    return replyOf(name, result);
  }
  return undefined;
}

async function continueAfter(
  functions: readonly NamedFunction[],
  context: BaseContext,
  first: number,
  pending: PromiseLike<unknown>,
): Promise<Reply | undefined> {
  let waiting: PromiseLike<unknown> = pending;
  for (let at = first; ; at++) {
    const { name } = functions[at]!;
    let result: unknown;
    try {
      result = await waiting;
    } catch (error) {
      throw namedError(name, error);
    }
    if (typeof result === 'object' && result !== null) return replyOf(name, result);
    const next = functions[at + 1];
    if (next === undefined) return undefined;
    waiting = callLater(next, context);
  }
}

async function callLater({ run }: NamedFunction, context: BaseContext): Promise<unknown> {
  return run(context);
}

/** For phases that are synchronous. Returns what the last function returned. */
export function runSynchronously(
  functions: readonly NamedFunction[],
  context: BaseContext,
  text?: string,
  last?: boolean,
): unknown {
  let result: unknown;
  for (const { run, name } of functions) {
    try {
      result = run(context, text, last);
    } catch (error) {
      throw namedError(name, error);
    }
    if (typeof result === 'object' && result !== null && isPromise(result)) {
      // Nobody waits for it, so a rejection would be unhandled.
      result.then(undefined, () => {});
      throw new TypeError(`${name} returned a promise; only certificate, rewrite and access may be asynchronous`);
    }
  }
  return result;
}

function replyOf(name: string, result: object): Reply {
  const { status, headers } = result as Partial<Reply>;
  if (Number.isInteger(status) && Array.isArray(headers)) return result as Reply;
  throw new TypeError(`${name} returned an object that is no reply; return refuse(...), reply(...) or replyJson(...)`);
}

function isPromise(value: object): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown }).then === 'function';
}
