import type { RuleConfig } from '../rules/rule-schema.ts';

export type RuleInput = { readonly [K in keyof RuleConfig]?: RuleConfig[K] | readonly string[] };

/** A rule with the defaults of its schema. For tests. */
export function ruleConfig(rule: RuleInput): RuleConfig {
  const defaults: RuleConfig = {
    name: 'rule',
    json_paths: null,
    xml_paths: null,
    form_fields: null,
    query_arguments: null,
    headers: null,
    kinds: null,
    patterns: null,
    in: null,
    mask_names: false,
    direction: 'both',
    action: 'replace',
    text: '***',
    keep: 4,
    hash_length: 16,
    except_groups: null,
  };
  return { ...defaults, ...rule } as RuleConfig;
}
