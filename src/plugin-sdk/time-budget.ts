/**
 * How long a plugin may delay a request, and what happens beyond it. The time runs from the call of a phase until its promise is
 * settled. A phase that returns at once cannot be interrupted: when it took longer, that is counted and logged.
 *
 * @example
 * timeBudget: { access: 20, onExceeded: 'skip' },
 */
export interface TimeBudget {
  /** Milliseconds for `rewrite`. Default: no limit. */
  readonly rewrite?: number;
  /** Milliseconds for `access`. Default: no limit. */
  readonly access?: number;
  /** Milliseconds for `response`. Default: no limit. */
  readonly response?: number;
  /**
   * `refuse`: the client receives 503. `skip`: the request continues without the plugin, so whatever it would have refused
   * passes. A plugin that skips cannot authenticate clients. In both cases the late result is ignored, and every use of the context
   * throws a `BudgetExceeded`.
   */
  readonly onExceeded: 'skip' | 'refuse';
}

/** Thrown to a plugin that uses its context after its time budget. Stop working for this request. */
export class BudgetExceeded extends Error {
  constructor() {
    super('the request continued without this plugin: its time budget was exceeded');
    this.name = 'BudgetExceeded';
  }
}

/** Phases that may have a budget. */
export const budgetPhases = Object.freeze(['rewrite', 'access', 'response'] as const);

export type BudgetPhase = (typeof budgetPhases)[number];

/** Milliseconds: one day. */
const maxBudget = 86_400_000;

/** Why a budget cannot work for a plugin with these needs; null: it can. */
export function budgetProblem(
  budget: TimeBudget,
  { secrets, clientCertificate }: { readonly secrets?: unknown; readonly clientCertificate?: boolean },
): string | null {
  if (budget.onExceeded !== 'skip' && budget.onExceeded !== 'refuse') {
    return "onExceeded must be 'skip' or 'refuse'";
  }
  const readsCredentials = secrets !== undefined || clientCertificate === true;
  if (budget.onExceeded === 'skip' && readsCredentials && (budget.access ?? budget.rewrite) !== undefined) {
    return "cannot be skipped: the plugin reads credentials (needs.secrets, needs.clientCertificate); use onExceeded: 'refuse'";
  }
  const named = budgetPhases.filter((phase) => budget[phase] !== undefined);
  if (named.length === 0) return `must name a time for ${budgetPhases.join(', ')}`;
  const foreign = Object.keys(budget).find(
    (name) => name !== 'onExceeded' && !(budgetPhases as readonly string[]).includes(name),
  );
  if (foreign !== undefined) return `has ${foreign}: only ${budgetPhases.join(', ')} can have a budget`;
  const wrong = named.find((phase) => !isTime(budget[phase]));
  return wrong === undefined ? null : `${wrong} must be milliseconds, from 1 to ${maxBudget}`;
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && value >= 1 && value <= maxBudget;
}
