import { compileJsonPaths } from '../../plugin-kit/json/index.ts';
import { checkXmlPath } from '../../plugin-kit/xml/index.ts';
import { array, boolean, type EntityCheck, type Infer, integer, record, string } from '../../plugin-sdk/schema.ts';
import { type RuleConfig, rule } from './rules/rule-schema.ts';
import { compileRules } from './rules/rules.ts';

const mebibyte = 1_048_576;

export const config = record({
  rules: array(rule, {
    required: true,
    len_min: 1,
    len_max: 30,
    description: 'Applied in order.',
  }),
  hash_key: string({
    len_min: 16,
    referenceable: true,
    encrypted: true,
    description:
      'Key of the hashes (HMAC-SHA-256). It must be the same on all nodes, and secret: otherwise short values can be guessed.',
  }),
  pass_types: array(
    string({
      match: /^(?:\*\/\*|[a-z0-9!#$&^_.+-]+\/(?:\*|[a-z0-9!#$&^_.+-]+))$/,
      description: 'A media type in lower case, or a range: `image/png`, `image/*`, `*/*`.',
    }),
    {
      required: true,
      default: [],
      description:
        'Types of bodies that are passed unread if no rule can mask them. Other such bodies are refused: 415, or 502 for responses.',
    },
  ),
  max_request_body: integer({
    required: true,
    default: mebibyte,
    between: [1024, 8 * mebibyte],
    unit: 'bytes',
    description: 'Maximum request body, without its content coding; larger ones are refused with 413.',
  }),
  max_response_body: integer({
    required: true,
    default: 8 * mebibyte,
    between: [1024, 8 * mebibyte],
    unit: 'bytes',
    description: 'Maximum response body, without its content coding; larger ones cause 502.',
  }),
  always_use_authenticated_groups: boolean({
    required: true,
    default: false,
    description:
      'Uses the groups of the authentication, if any, even if there is a consumer. Otherwise they are used only without a consumer. As in `acl`.',
  }),
});

export type DataMaskingConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    custom_entity_check: {
      field_sources: ['config.rules', 'config.hash_key'],
      fn: ({ config: value }) => {
        const problem = rulesProblem(value as DataMaskingConfig);
        return problem === null ? null : { 'config.rules': problem };
      },
    },
  },
];

/** The problem of rules whose fields are valid; null: none. */
export function rulesProblem(value: DataMaskingConfig): string | null {
  const names = new Set<string>();
  for (const config of value.rules) {
    if (names.has(config.name)) return `two rules are called '${config.name}'`;
    names.add(config.name);
    const problem = ruleProblem(config, value.hash_key);
    if (problem !== null) return `rule '${config.name}': ${problem}`;
  }
  return null;
}

function ruleProblem(config: RuleConfig, key: string | null): string | null {
  const places = [config.json_paths, config.xml_paths, config.form_fields, config.query_arguments, config.headers];
  const named = places.some((list) => list !== null && list.length > 0);
  const searches = (config.kinds?.length ?? 0) + (config.patterns?.length ?? 0) > 0;
  if (!named && !searches) return 'it names neither a place nor kinds nor patterns';
  if (!searches && (config.in?.length ?? 0) > 0) return '`in` is for rules with kinds or patterns';
  if (!searches && config.mask_names) return '`mask_names` is for rules with kinds or patterns';
  if (config.action === 'hash' && key === null) return 'a hash needs `hash_key`';
  try {
    compileJsonPaths([config.json_paths ?? []]);
    for (const path of config.xml_paths ?? []) checkXmlPath(path);
    compileRules([config], key);
  } catch (error) {
    return (error as Error).message;
  }
  return null;
}
