import { type Condition, compileConditions, type Facts } from './conditions.ts';
import type { AuthorizationConfig } from './schema.ts';

/** The decision and its reason, as the log shows them. */
export interface Decision {
  readonly effect: 'allow' | 'deny';
  /** The rule that decided; null: the default. */
  readonly rule: string | null;
  /** Of a refusal by default: the rules that would have allowed the request, and the first condition that failed. */
  readonly missed: readonly { readonly rule: string; readonly condition: string }[];
  /** The decision depended on the client's identity. */
  readonly ofIdentity: boolean;
}

export interface Rules {
  /** Some rule needs groups. */
  readonly needGroups: boolean;
  decide(facts: Facts): Decision;
}

interface Rule {
  readonly name: string;
  readonly allows: boolean;
  readonly conditions: readonly Condition[];
  /** The decision of a match; made once. */
  readonly decision: Decision;
}

export function compileRules(config: AuthorizationConfig): Rules {
  const rules = config.rules.map((rule): Rule => {
    const conditions = compileConditions(rule);
    const ofIdentity = conditions.some((condition) => condition.ofIdentity);
    return {
      name: rule.name,
      allows: rule.effect === 'allow',
      conditions,
      decision: Object.freeze({ effect: rule.effect, rule: rule.name, missed: [], ofIdentity }),
    };
  });
  const allowed = Object.freeze({ effect: 'allow', rule: null, missed: [], ofIdentity: false } as const);
  return {
    needGroups: config.rules.some((rule) => rule.groups !== null),
    decide(facts) {
      for (const rule of rules) {
        if (firstFailed(rule, facts) === undefined) return rule.decision;
      }
      return config.default === 'allow' ? allowed : refusedByDefault(rules, facts);
    },
  };
}

function firstFailed({ conditions }: Rule, facts: Facts): Condition | undefined {
  for (const condition of conditions) if (!condition.holds(facts)) return condition;
  return undefined;
}

function refusedByDefault(rules: readonly Rule[], facts: Facts): Decision {
  const missed: { rule: string; condition: string }[] = [];
  let ofIdentity = false;
  for (const rule of rules) {
    const failed = rule.allows ? firstFailed(rule, facts) : undefined;
    if (failed === undefined) continue;
    missed.push({ rule: rule.name, condition: failed.name });
    ofIdentity ||= failed.ofIdentity;
  }
  return { effect: 'deny', rule: null, missed, ofIdentity };
}
