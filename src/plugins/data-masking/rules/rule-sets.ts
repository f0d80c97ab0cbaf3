import { createHash } from 'node:crypto';
import { BoundedCache } from '../../../plugin-kit/runtime/index.ts';
import { BodyMasker } from '../bodies/masker.ts';
import { HeadMask } from '../head-mask.ts';
import type { DataMaskingConfig } from '../schema.ts';
import { compileRules, type Rule } from './rules.ts';

export type Direction = 'request' | 'response';

/** The rules of one direction that apply to a client. */
export interface RuleSet {
  /** Null: the rules mask no bodies. */
  readonly masker: BodyMasker | null;
  /** Null: the rules mask no headers and no query. */
  readonly head: HeadMask | null;
  /** A short hash of the rules. */
  readonly mark: string;
}

/** The rules of an instance, by direction and client. */
export class RuleSets {
  readonly rules: readonly Rule[];
  readonly #config: DataMaskingConfig;
  readonly #request = new BoundedCache<number, RuleSet>(1024);
  readonly #response = new BoundedCache<number, RuleSet>(1024);
  #logged: BodyMasker | null | undefined;

  constructor(config: DataMaskingConfig) {
    this.#config = config;
    this.rules = compileRules(config.rules, config.hash_key);
  }

  /**
   * Masks bodies that are recorded: all rules, for everyone; kinds and patterns are searched everywhere. Null: no rule can mask a body.
   */
  get loggedBodies(): BodyMasker | null {
    if (this.#logged === undefined) {
      const rules = this.rules
        .map((rule) => (rule.search === null ? rule : { ...rule, inBodies: true }))
        .filter(masksBodies);
      this.#logged = rules.length === 0 ? null : new BodyMasker(rules, []);
    }
    return this.#logged;
  }

  /** `exempted`: bit n is set if rule n does not apply. */
  of(direction: Direction, exempted: number): RuleSet {
    const sets = direction === 'request' ? this.#request : this.#response;
    let set = sets.get(exempted);
    if (set === undefined) {
      set = this.#create(direction, exempted);
      sets.set(exempted, set);
    }
    return set;
  }

  #create(direction: Direction, exempted: number): RuleSet {
    const rules = this.rules.filter(
      ({ config }, at) =>
        (exempted & (1 << at)) === 0 && (config.direction === 'both' || config.direction === direction),
    );
    const bodies = rules.filter(masksBodies);
    const head = new HeadMask(rules);
    const text = JSON.stringify([rules.map(({ config }) => config), this.#config.hash_key]);
    return {
      masker: bodies.length === 0 ? null : new BodyMasker(bodies, this.#config.pass_types),
      head: head.isEmpty ? null : head,
      mark: createHash('sha256').update(text).digest('hex').slice(0, 8),
    };
  }
}

export function masksBodies({ config, inBodies }: Rule): boolean {
  return inBodies || [config.json_paths, config.xml_paths, config.form_fields].some((list) => (list?.length ?? 0) > 0);
}
