import { BudgetExceeded } from '../../../plugin-sdk/time-budget.ts';

/** Whether a plugin may still use its context. */
export interface Gate {
  open: boolean;
  /** The plugin may be skipped, so nothing may depend on it: it cannot authenticate clients. */
  readonly skips: boolean;
}

/** Members through which a plugin changes the request or its answer. */
const views: ReadonlySet<string | symbol> = new Set(['client', 'request', 'upstream', 'response']);
const authenticating: ReadonlySet<string | symbol> = new Set(['authenticate', 'authenticateWithAny']);

/** The context as one plugin sees it during one phase: every use throws once the gate is closed. */
export function guardedContext<T extends object>(context: T, gate: Gate): T {
  return new Proxy(context, new Guard(gate) as ProxyHandler<T>);
}

class Guard implements ProxyHandler<object> {
  readonly #gate: Gate;

  constructor(gate: Gate) {
    this.#gate = gate;
  }

  get(target: object, name: string | symbol): unknown {
    const gate = this.#gate;
    if (!gate.open) throw new BudgetExceeded();
    // The members have private fields of the target.
    const value: unknown = Reflect.get(target, name, target);
    if (typeof value === 'function') {
      if (gate.skips && authenticating.has(name)) return refuseToAuthenticate;
      return (...args: unknown[]): unknown => {
        if (!gate.open) throw new BudgetExceeded();
        return Reflect.apply(value, target, args);
      };
    }
    return typeof value === 'object' && value !== null && views.has(name) ? new Proxy(value, this) : value;
  }

  set(target: object, name: string | symbol, value: unknown): boolean {
    if (!this.#gate.open) throw new BudgetExceeded();
    return Reflect.set(target, name, value, target);
  }
}

function refuseToAuthenticate(): never {
  throw new Error("a plugin whose time budget has onExceeded: 'skip' cannot authenticate clients: use 'refuse'");
}
