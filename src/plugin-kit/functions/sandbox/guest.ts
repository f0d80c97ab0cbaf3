/** What crosses between the gateway and the sandbox. Nothing else ever does. */
export type Primitive = string | number | boolean | null | undefined;

/**
 * The gateway's side of a call: the number of an operation and its arguments. Undefined: it failed, and operation -1 has the reason. It
 * must never throw.
 */
export type HostCall = (operation: number, first?: Primitive, second?: Primitive) => Primitive;

/** A member of a context in the sandbox, as `operations.ts` declares it; the position is the number of the operation. */
export interface Shape {
  readonly path: string;
  readonly phases: readonly string[];
  readonly kind: 'value' | 'method';
  readonly json: boolean;
  readonly arguments: readonly ('text' | 'number' | 'json')[];
}

/** What the gateway calls in the sandbox. All arguments and results are primitive values, apart from the function of `add`. */
export interface GuestSide {
  /** Number of the function; a text: why it cannot be used. */
  add(made: unknown): number | string;
  /**
   * Runs a function. Null: it returned nothing. `R` and JSON: a reply. `T` and a text, or `D`: what a body filter returned. `E` and a
   * text: it failed.
   */
  run(at: number, phase: string, name: string, text?: string, last?: boolean): string | null;
  /** What an exception says, with the line within the function `name`. */
  describe(error: unknown, name: string): string;
}

/**
 * The sandbox's side. It runs in the realm of the sandbox as text (`toString`), so it must not use anything from outside of itself.
 *
 * It removes globals, freezes what is left, and builds the contexts of the phases. The only thing it has of the gateway is `call`, and
 * code of users never sees that: it is called in one place, whose exceptions, which may be objects of the gateway, end there.
 */
export function guest(call: HostCall, shapesJson: string, helpersJson: string): GuestSide {
  const kept = new Set<PropertyKey>([
    ...[
      'Object',
      'Function',
      'Array',
      'Number',
      'Boolean',
      'String',
      'Symbol',
      'Date',
      'RegExp',
      'JSON',
      'Math',
      'Intl',
    ],
    ...['Error', 'AggregateError', 'EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'],
    ...['Map', 'Set', 'WeakMap', 'WeakSet', 'BigInt', 'Reflect', 'Proxy', 'Iterator', 'ArrayBuffer', 'DataView'],
    ...['Uint8Array', 'Int8Array', 'Uint16Array', 'Int16Array', 'Uint32Array', 'Int32Array', 'Uint8ClampedArray'],
    ...[
      'Float32Array',
      'Float64Array',
      'BigUint64Array',
      'BigInt64Array',
      'globalThis',
      'Infinity',
      'NaN',
      'undefined',
    ],
    ...[
      'parseFloat',
      'parseInt',
      'isFinite',
      'isNaN',
      'decodeURI',
      'decodeURIComponent',
      'encodeURI',
      'encodeURIComponent',
    ],
  ]);
  const globals = globalThis as unknown as Record<PropertyKey, unknown>;
  for (const name of Reflect.ownKeys(globals)) if (!kept.has(name)) Reflect.deleteProperty(globals, name);
  // It returns a promise.
  Reflect.deleteProperty(Array, 'fromAsync');
  Reflect.deleteProperty(Error, 'captureStackTrace');
  Error.stackTraceLimit = 10;

  const { freeze, defineProperty } = Object;
  const { parse, stringify } = JSON;
  const shapes = parse(shapesJson) as readonly Shape[];
  const helpers = parse(helpersJson) as readonly Shape[];
  const NewError = Error;

  function ask(operation: number, first?: Primitive, second?: Primitive): Primitive {
    let answer: unknown;
    try {
      answer = call(operation, first, second);
    } catch {
      answer = undefined;
    }
    if (answer === undefined || typeof answer === 'object' || typeof answer === 'function') {
      if (answer === null) return null;
      throw new NewError(reasonOfFailure());
    }
    return answer as Primitive;
  }

  function reasonOfFailure(): string {
    try {
      const reason: unknown = call(-1);
      return typeof reason === 'string' ? reason : 'the call failed';
    } catch {
      return 'the call failed';
    }
  }

  function crossing(kind: 'text' | 'number' | 'json', value: unknown): Primitive {
    if (kind === 'number') return Number(value);
    if (kind === 'json') return stringify(value ?? null) ?? 'null';
    return typeof value === 'string' ? value : `${value}`;
  }

  function memberOf(
    operation: number,
    { json, arguments: kinds }: Shape,
  ): (first?: unknown, second?: unknown) => unknown {
    const [one, two] = kinds;
    const result = (value: Primitive): unknown => (json ? parse(value as string) : value);
    if (one === undefined) return () => result(ask(operation));
    if (two === undefined) return (first) => result(ask(operation, crossing(one, first)));
    return (first, second) => result(ask(operation, crossing(one, first), crossing(two, second)));
  }

  function build(list: readonly Shape[], firstOperation: number, phase: string | null): Record<string, unknown> {
    const built: Record<string, unknown> = {};
    list.forEach((shape, at) => {
      if (phase !== null && !shape.phases.includes(phase)) return;
      const steps = shape.path.split('.');
      const last = steps.pop() as string;
      let holder = built;
      for (const step of steps) {
        holder[step] ??= {};
        holder = holder[step] as Record<string, unknown>;
      }
      const member = memberOf(firstOperation + at, shape);
      if (shape.kind === 'value') defineProperty(holder, last, { get: () => member(), enumerable: true });
      else holder[last] = freeze(member);
    });
    for (const part of Object.values(Object.getOwnPropertyDescriptors(built))) {
      if (typeof part.value === 'object') freeze(part.value);
    }
    return built;
  }

  const keys = new WeakMap<object, number>();
  let keyCount = 0;
  const operationGet = -2;
  const operationSet = -3;
  const operationBody = -4;

  function numberOf(key: unknown): number {
    const number = typeof key === 'object' && key !== null ? keys.get(key) : undefined;
    if (number === undefined) throw new NewError('not a key; make one with contextKey(name)');
    return number;
  }

  function get(key: unknown): unknown {
    const text = ask(operationGet, numberOf(key));
    return typeof text === 'string' ? parse(text) : undefined;
  }

  function set(key: unknown, value: unknown): void {
    ask(operationSet, numberOf(key), stringify(value) ?? 'null');
  }

  const contexts: Record<string, unknown> = {};
  for (const phase of ['rewrite', 'access', 'header_filter', 'body_filter', 'log']) {
    const context = build(shapes, 0, phase);
    context['get'] = freeze(get);
    context['set'] = freeze(set);
    if (phase === 'access') context['bodyText'] = freeze(() => ask(operationBody));
    contexts[phase] = freeze(context);
  }

  const replies = new WeakMap<object, string>();

  function replyOf(status: unknown, headers: unknown, body: unknown, message: unknown): object {
    const made = freeze({ status: Number(status) });
    const pairs = Object.entries(Object(headers ?? {})).map(([name, value]) => [name, `${value}`]);
    replies.set(
      made,
      stringify({ status: Number(status), headers: pairs, body: body ?? null, message: message ?? null }),
    );
    return made;
  }

  const scope = build(helpers, shapes.length, null);
  scope['refuse'] = (status: unknown, message: unknown, headers?: unknown) =>
    replyOf(status, headers, null, `${message}`);
  scope['reply'] = (options: { status?: unknown; headers?: unknown; body?: unknown }) =>
    replyOf(options.status, options.headers, options.body === undefined ? null : `${options.body}`, null);
  scope['replyJson'] = (status: unknown, value: unknown, headers?: unknown) =>
    replyOf(
      status,
      { 'Content-Type': 'application/json; charset=utf-8', ...Object(headers ?? {}) },
      stringify(value) ?? 'null',
      null,
    );
  scope['contextKey'] = (name: unknown) => {
    if (keyCount >= 64) throw new NewError('more than 64 keys; call contextKey once, outside of the function');
    const key = freeze({ name: `${name}` });
    keys.set(key, keyCount++);
    return key;
  };
  for (const [name, value] of Object.entries(scope)) {
    defineProperty(globals, name, { value: freeze(value), enumerable: true });
  }

  /** All that can be reached from the globals, and prototypes that only syntax reaches. */
  function freezeAll(): void {
    const seen = new Set<unknown>();
    const waiting: unknown[] = [
      globals,
      Object.getPrototypeOf(function* () {}),
      Object.getPrototypeOf([][Symbol.iterator]()),
      Object.getPrototypeOf(''[Symbol.iterator]()),
      Object.getPrototypeOf(''.matchAll(/a/g)),
      Object.getPrototypeOf(new Map()[Symbol.iterator]()),
      Object.getPrototypeOf(new Set()[Symbol.iterator]()),
    ];
    for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
      if (seen.has(value)) continue;
      seen.add(value);
      for (const descriptor of Object.values(Object.getOwnPropertyDescriptors(value))) {
        for (const found of [descriptor.value, descriptor.get, descriptor.set] as unknown[]) {
          if ((typeof found === 'object' && found !== null) || typeof found === 'function') waiting.push(found);
        }
      }
      for (const symbol of Object.getOwnPropertySymbols(value)) {
        const found = Object.getOwnPropertyDescriptor(value, symbol)?.value as unknown;
        if ((typeof found === 'object' && found !== null) || typeof found === 'function') waiting.push(found);
      }
      const prototype: unknown = Object.getPrototypeOf(value);
      if (prototype !== null) waiting.push(prototype);
      freeze(value);
    }
  }
  freezeAll();

  const functions: ((...given: unknown[]) => unknown)[] = [];

  function describe(error: unknown, name: string): string {
    try {
      if (typeof error !== 'object' || error === null) return `${name}: threw ${String(error)}`.slice(0, 1000);
      const { message, stack, name: kind } = error as { message?: unknown; stack?: unknown; name?: unknown };
      const what = typeof message === 'string' ? message : 'an exception';
      const at = typeof stack === 'string' ? stack.indexOf(`${name}:`) : -1;
      const line = at < 0 ? Number.NaN : Number.parseInt((stack as string).slice(at + name.length + 1), 10);
      const place = Number.isNaN(line) ? name : `${name}, line ${line}`;
      const prefix = typeof kind === 'string' && kind !== 'Error' ? `${kind}: ` : '';
      return `${place}: ${prefix}${what}`.slice(0, 1000);
    } catch {
      return `${name}: an exception that cannot be read`;
    }
  }

  function outcomeOf(result: unknown, phase: string, name: string): string | null {
    if (phase === 'body_filter') {
      if (result === undefined) return null;
      if (result === null) return 'D';
      return typeof result === 'string' ? `T${result}` : `E${name}: returned ${typeof result}; return a text`;
    }
    if (typeof result !== 'object' || result === null) return null;
    const reply = replies.get(result);
    return reply === undefined ? `E${name}: returned an object that is no reply` : `R${reply}`;
  }

  return freeze({
    add: (made: unknown): number | string => {
      if (typeof made !== 'function') return `is not a function but ${typeof made}`;
      return functions.push(made as (typeof functions)[number]) - 1;
    },
    run(at: number, phase: string, name: string, text?: string, last?: boolean): string | null {
      try {
        const made = functions[at] as (...given: unknown[]) => unknown;
        return outcomeOf(made(contexts[phase], text, last), phase, name);
      } catch (error) {
        return `E${describe(error, name)}`;
      }
    },
    describe,
  });
}
