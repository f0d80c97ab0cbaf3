import { constants, createContext, Script } from 'node:vm';
import { contextKey } from '../../../plugin-sdk/contexts.ts';
import type { Reply } from '../../../plugin-sdk/reply.ts';
import type { PluginTools } from '../../../plugin-sdk/tools.ts';
import type { CompiledFunction, FunctionHost } from '../function-host.ts';
import { type FunctionPhase, functionName } from '../phases.ts';
import { asExpression, sandboxProblem } from '../source.ts';
import { type GuestSide, guest, type HostCall, type Primitive } from './guest.ts';
import { helperOperations } from './helper-operations.ts';
import { type AnyContext, type Operation, operations } from './operations.ts';

/** Maximum characters of a text that crosses from the sandbox. */
const maxText = 1024 * 1024;

/**
 * Functions in a realm of their own, which has nothing of the gateway but one function that takes and gives primitive values:
 * `untrusted_lua = sandbox`. One realm for each instance. Everything in it is synchronous, so no code of it runs outside of `run`.
 */
export function sandboxHost(plugin: string, tools: PluginTools): FunctionHost {
  const side = new SandboxSide(tools);
  const realm = createContext(constants.DONT_CONTEXTIFY, { codeGeneration: { strings: false, wasm: false } });
  const begin = new Script(`(${guest})`, { filename: 'sluicegate:sandbox' }).runInContext(realm) as typeof guest;
  const inside = begin(side.call, shapesOf(operations), shapesOf(side.helpers));
  return { compile: (phase, index, text) => compiled(side, inside, realm, plugin, phase, index, text) };
}

function compiled(
  side: SandboxSide,
  inside: GuestSide,
  realm: object,
  plugin: string,
  phase: FunctionPhase,
  index: number,
  text: string,
): CompiledFunction {
  const name = functionName(plugin, phase, index);
  if (phase === 'certificate')
    throw new Error(`${name}: the sandbox has no certificate phase (untrusted_lua = on has)`);
  const problem = sandboxProblem(text);
  if (problem !== null) throw new Error(`${name}: ${problem}`);
  const number = added(inside, realm, name, text);
  const run = (context: AnyContext, body: string | null, piece?: string, last?: boolean): unknown =>
    outcome(
      name,
      side.within(context, body, () => inside.run(number, phase, name, piece, last)),
    );
  if (phase === 'access' && /\bbodyText\b/.test(text)) {
    return async (context) => {
      const body = await (context as AnyContext).decodedBody();
      return run(context as AnyContext, Buffer.from(body).toString());
    };
  }
  return (context, piece, last) => run(context as AnyContext, null, piece, last);
}

/** Evaluates the function in the sandbox. What it is, and what it throws, is never touched here: it is code of users. */
function added(inside: GuestSide, realm: object, name: string, text: string): number {
  const { before, code } = asExpression(text);
  const script = new Script(code, { filename: name, columnOffset: -before.length });
  let result: number | string;
  try {
    result = inside.add(script.runInContext(realm, { displayErrors: false }));
  } catch (error) {
    throw new Error(textOr(() => inside.describe(error, name), `${name}: an exception`));
  }
  if (typeof result === 'number') return result;
  throw new TypeError(`${name} ${typeof result === 'string' ? result : 'is not a function'}`);
}

/** The sandbox's code can use up the stack, so even its own functions can throw, and what they throw is not touched. */
function textOr(make: () => unknown, otherwise: string): string {
  try {
    const made = make();
    return typeof made === 'string' ? made : otherwise;
  } catch {
    return otherwise;
  }
}

function outcome(name: string, result: unknown): unknown {
  if (result === null) return undefined;
  if (typeof result !== 'string') throw new Error(`${name}: an exception that cannot be read`);
  const rest = result.slice(1);
  switch (result[0]) {
    case 'R':
      return replyFrom(name, rest);
    case 'T':
      return rest;
    case 'D':
      return null;
    default:
      throw new Error(rest);
  }
}

/** The text is JSON that the sandbox's side made of primitive values; it is checked as if a stranger had sent it. */
function replyFrom(name: string, text: string): Reply {
  const { status, headers, body, message } = JSON.parse(text) as Record<string, unknown>;
  if (!Number.isInteger(status)) throw new Error(`${name}: a reply needs a status`);
  const pairs = Array.isArray(headers) ? headers.map((pair) => [String(pair[0]), String(pair[1])] as const) : [];
  return {
    status: status as number,
    headers: pairs,
    body: typeof body === 'string' ? body : null,
    message: typeof message === 'string' ? message : null,
  };
}

function shapesOf(list: readonly Operation[]): string {
  return JSON.stringify(
    list.map(({ path, phases, kind, json = false, arguments: kinds }) => ({
      path,
      phases,
      kind,
      json,
      arguments: kinds,
    })),
  );
}

/** The gateway's side of one sandbox: answers its calls, for the request whose function runs. */
class SandboxSide {
  readonly helpers: readonly Operation[];
  readonly call: HostCall;
  readonly #all: readonly Operation[];
  readonly #keys = new Map<number, ReturnType<typeof contextKey<string>>>();
  #context: AnyContext | null = null;
  #body: string | null = null;
  #reason = '';

  constructor(tools: PluginTools) {
    this.helpers = helperOperations(tools);
    this.#all = [...operations, ...this.helpers];
    // Nothing may leave it but a primitive value: an exception of this realm would lead to its constructors.
    this.call = (operation, first, second) => {
      try {
        return this.#answer(operation, first, second);
      } catch (error) {
        this.#reason = error instanceof Error ? error.message : 'the call failed';
        return undefined;
      }
    };
  }

  /** Runs `work` as a call of the sandbox for this request. */
  within(context: AnyContext, body: string | null, work: () => unknown): unknown {
    const before = [this.#context, this.#body] as const;
    this.#context = context;
    this.#body = body;
    try {
      return work();
    } catch {
      return undefined;
    } finally {
      [this.#context, this.#body] = before;
    }
  }

  #answer(number: number, first: Primitive, second: Primitive): Primitive {
    if (number === -1) return this.#reason;
    if (tooLong(first) || tooLong(second)) throw new Error(`a text of more than ${maxText} characters`);
    if (number === -4) return this.#bodyText();
    if (number === -2) return this.#current().get(this.#keyOf(first)) ?? null;
    if (number === -3) {
      this.#current().set(this.#keyOf(first), String(second));
      return null;
    }
    const operation = this.#all[number];
    if (operation === undefined) throw new Error('there is no such call');
    const context = operation.phases.length === 0 ? (null as unknown as AnyContext) : this.#current();
    const result = operation.run(context, first ?? null, second ?? null);
    if (operation.json === true) return JSON.stringify(result ?? null);
    return typeof result === 'string' || typeof result === 'number' || typeof result === 'boolean' ? result : null;
  }

  #current(): AnyContext {
    if (this.#context === null) throw new Error('there is no request now');
    return this.#context;
  }

  #bodyText(): string {
    if (this.#body === null) throw new Error('bodyText() is for functions of the access phase');
    return this.#body;
  }

  #keyOf(number: Primitive) {
    if (typeof number !== 'number') throw new Error('not a key');
    const known = this.#keys.get(number);
    if (known !== undefined) return known;
    const key = contextKey<string>(`function key ${number}`);
    this.#keys.set(number, key);
    return key;
  }
}

function tooLong(value: Primitive): boolean {
  return typeof value === 'string' && value.length > maxText;
}
