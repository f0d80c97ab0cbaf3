import { createHash } from 'node:crypto';
import { BoundedCache } from '../../plugin-sdk/index.ts';
import { HeadMask } from './head-mask.ts';
import { BodyMasker } from './masker.ts';
import { compileRules, type Rule } from './rules.ts';
import type { DataMaskingConfig } from './schema.ts';

export type Direction = 'request' | 'response';

/** The rules of one direction that hold for one client. */
export interface RuleSet {
  /** Null: they concern no body. */
  readonly masker: BodyMasker | null;
  /** Null: they concern no header and no query. */
  readonly head: HeadMask | null;
  /** A few digits that are others for other rules. */
  readonly mark: string;
}

/** The rules of an instance by direction and client. */
export class RuleSets {
  readonly rules: readonly Rule[];
  readonly #config: DataMaskingConfig;
  readonly #request = new BoundedCache<number, RuleSet>(1024);
  readonly #response = new BoundedCache<number, RuleSet>(1024);

  constructor(config: DataMaskingConfig) {
    this.#config = config;
    this.rules = compileRules(config.rules, config.hash_key);
  }

  /** `lifted`: bit n is set when rule n does not hold. */
  of(direction: Direction, lifted: number): RuleSet {
    const sets = direction === 'request' ? this.#request : this.#response;
    let set = sets.get(lifted);
    if (set === undefined) {
      set = this.#make(direction, lifted);
      sets.set(lifted, set);
    }
    return set;
  }

  #make(direction: Direction, lifted: number): RuleSet {
    const rules = this.rules.filter(
      ({ config }, at) => (lifted & (1 << at)) === 0 && (config.direction === 'both' || config.direction === direction),
    );
    const bodies = rules.filter(concernsBodies);
    const head = new HeadMask(rules);
    const text = JSON.stringify([rules.map(({ config }) => config), this.#config.hash_key]);
    return {
      masker: bodies.length === 0 ? null : new BodyMasker(bodies, this.#config.pass_types),
      head: head.isEmpty ? null : head,
      mark: createHash('sha256').update(text).digest('hex').slice(0, 8),
    };
  }
}

export function concernsBodies({ config, inBodies }: Rule): boolean {
  return inBodies || [config.json_paths, config.xml_paths, config.form_fields].some((list) => (list?.length ?? 0) > 0);
}
