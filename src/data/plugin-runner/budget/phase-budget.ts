import { type Reply, refuse } from '../../../plugin-sdk/reply.ts';
import type { BudgetPhase } from '../../../plugin-sdk/time-budget.ts';
import { errors } from '../../../shared/errors.ts';
import { monotonic } from '../../../shared/util/time/clock.ts';
import { throttledLog } from '../../../shared/util/time/throttled-log.ts';
import type { Exchange, PluginContext } from '../../request/exchange.ts';
import type { PluginInstance } from '../plan.ts';
import { type Gate, guardedContext } from './guarded-context.ts';

/** The budget of one call; null: the phase has none. The clock runs from now on. */
export function beginBudget(exchange: Exchange, instance: PluginInstance, phase: BudgetPhase): PhaseBudget | null {
  const limit = instance.budget?.[phase];
  return limit === undefined ? null : new PhaseBudget(exchange, instance, phase, limit);
}

/** Limits how long one plugin delays one request in one phase. */
export class PhaseBudget {
  readonly #exchange: Exchange;
  readonly #instance: PluginInstance;
  readonly #phase: BudgetPhase;
  readonly #limit: number;
  readonly #started = monotonic();
  readonly #gate: Gate;

  constructor(exchange: Exchange, instance: PluginInstance, phase: BudgetPhase, limit: number) {
    this.#exchange = exchange;
    this.#instance = instance;
    this.#phase = phase;
    this.#limit = limit;
    this.#gate = { open: true, skips: instance.budget?.onExceeded === 'skip' };
  }

  /** What the plugin gets: it is closed when the budget is exceeded. */
  context(context: PluginContext): PluginContext {
    return guardedContext(context, this.#gate);
  }

  /** The plugin returned at once. It could not have been interrupted; that it took too long is counted. */
  returned(): void {
    if (monotonic() - this.#started > this.#limit) this.#note('late');
  }

  /** The plugin's result, if it comes in time. Otherwise undefined, which continues without it, or the refusal. */
  within(pending: Promise<Reply | undefined>): Promise<Reply | undefined> {
    return new Promise((resolve, reject) => {
      const left = this.#limit - (monotonic() - this.#started);
      const timer = setTimeout(() => resolve(this.#exceeded()), Math.max(0, left));
      // A rejection after the timeout concerns nobody.
      pending.then(
        (result) => {
          clearTimeout(timer);
          resolve(result);
        },
        (error: unknown) => {
          clearTimeout(timer);
          reject(error);
        },
      );
    });
  }

  #exceeded(): Reply | undefined {
    this.#gate.open = false;
    // The client has left: there is nothing to decide.
    if (this.#exchange.finished) return undefined;
    const outcome = this.#gate.skips ? 'skipped' : 'refused';
    this.#note(outcome);
    const { pluginOverBudget: error } = errors;
    const reply = outcome === 'skipped' ? undefined : refuse(error.status, error.message);
    this.#exchange.trace?.pluginOverBudget(`${outcome}: over its budget of ${this.#limit} ms`, reply);
    return reply;
  }

  #note(outcome: 'skipped' | 'refused' | 'late'): void {
    this.#instance.meter.exceeded(outcome);
    lineOf(this.#instance)({ outcome, phase: this.#phase, limit: this.#limit, requestId: this.#exchange.id });
  }
}

interface Exceeded {
  readonly outcome: 'skipped' | 'refused' | 'late';
  readonly phase: BudgetPhase;
  readonly limit: number;
  readonly requestId: string;
}

/** Milliseconds between two lines about one instance. */
const quiet = 10_000;
const effects = Object.freeze({
  skipped: 'the request continues without it',
  refused: 'the request is refused',
  late: 'it could not be interrupted',
});
const lines = new WeakMap<PluginInstance, (exceeded: Exceeded) => void>();

function lineOf(instance: PluginInstance): (exceeded: Exceeded) => void {
  let line = lines.get(instance);
  if (line === undefined) {
    line = throttledLog<Exceeded>(quiet, ({ outcome, phase, limit, requestId }, suppressed) =>
      instance.log.warn('plugin exceeded its time budget', {
        phase,
        budget_ms: limit,
        outcome,
        effect: effects[outcome],
        request_id: requestId,
        ...(suppressed === 0 ? {} : { suppressed }),
      }),
    );
    lines.set(instance, line);
  }
  return line;
}
