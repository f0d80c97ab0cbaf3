import {
  array,
  boolean,
  type EntityCheck,
  headerName,
  type Infer,
  integer,
  record,
  regex,
  set,
  string,
} from '../../plugin-sdk/schema.ts';
import { checkXmlPath } from '../../plugin-sdk/xml.ts';
import { compileJsonPaths } from './json-paths.ts';
import { kindNames } from './kinds/kinds.ts';
import { compileRules } from './rules.ts';

const mebibyte = 1_048_576;

const rule = record(
  {
    name: string({
      required: true,
      match: /^[A-Za-z0-9_.-]{1,64}$/,
      description: 'How the rule is called, in messages about it. Letters, digits, `_`, `.` and `-`.',
    }),
    json_paths: array(string({ len_max: 1024, description: 'A path such as `$.users[*].email` or `$..iban`.' }), {
      len_max: 64,
      description: 'Places in JSON bodies, as JSONPath (RFC 9535), filters included.',
    }),
    xml_paths: array(
      string({ len_max: 1024, description: 'A path such as `/order/customer/email` or `//card/@number`.' }),
      {
        len_max: 64,
        description:
          'Elements and attributes in XML bodies: `/a/b` from the root, `b` or `//b` anywhere, `*` for any name, `@id` at the end. Names are compared without their prefixes.',
      },
    ),
    form_fields: array(string({ description: 'Name of a field, in its case.' }), {
      len_max: 64,
      description: 'Fields of forms, urlencoded and multipart.',
    }),
    query_arguments: array(string({ description: 'Name of an argument, in its case.' }), {
      len_max: 64,
      description: 'Arguments in the query of the request.',
    }),
    headers: array(headerName({ description: 'Name of a header, in any case.' }), {
      len_max: 64,
      description: 'Header fields of requests and answers.',
    }),
    kinds: set(string({ one_of: kindNames }), {
      description:
        'Masks what is of these kinds in the places of the rule, or in whole bodies if it names no place. Card numbers and IBANs count only with their check digits right.',
    }),
    patterns: array(regex({ len_max: 1024, description: 'A regular expression in the syntax of RE2.' }), {
      len_max: 32,
      description:
        'Masks what matches one of these in the places of the rule, or in whole bodies if it names no place.',
    }),
    in: set(string({ one_of: ['body', 'headers', 'query'] }), {
      description:
        'Where `kinds` and `patterns` are looked for besides the places of the rule: in whole bodies, all headers, all arguments. Null: in bodies if the rule names no place.',
    }),
    mask_names: boolean({
      required: true,
      default: false,
      description: 'Look for `kinds` and `patterns` in the names of JSON members and form fields, too.',
    }),
    direction: string({
      required: true,
      default: 'both',
      one_of: ['both', 'request', 'response', 'log'],
      description: 'Which way it works. Logs are masked by every rule; with `log` nothing else is.',
    }),
    action: string({
      required: true,
      default: 'replace',
      one_of: ['replace', 'hash', 'keep_first', 'keep_last', 'keep_domain'],
      description:
        'What becomes of a value: `text` in its place; a keyed hash; `text` and a part of the value: its first or last characters, or the domain of an email address.',
    }),
    text: string({
      required: true,
      default: '***',
      len_min: 0,
      len_max: 64,
      match: /^[\x20-\x7e]*$/,
      description: 'What stands for the part that is taken away. ASCII.',
    }),
    keep: integer({
      required: true,
      default: 4,
      between: [1, 32],
      unit: 'characters',
      description: 'Letters and digits that `keep_first` and `keep_last` leave; never more than half of the value.',
    }),
    hash_length: integer({
      required: true,
      default: 16,
      between: [8, 64],
      unit: 'characters',
      description: 'Hexadecimal digits of a hash.',
    }),
    except_groups: array(string({ description: 'Name of a group.' }), {
      len_max: 64,
      description: 'Groups of consumers for whose members the rule does not hold. In logs it always does.',
    }),
  },
  { description: 'What is masked, where, and how.' },
);

export const config = record({
  rules: array(rule, {
    required: true,
    len_min: 1,
    len_max: 30,
    description: 'Carried out in their order.',
  }),
  hash_key: string({
    len_min: 16,
    referenceable: true,
    encrypted: true,
    description:
      'Key of the hashes (HMAC-SHA-256): the same on all nodes, and secret, else short values can be guessed.',
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
        'Types of bodies that pass unread where no rule can mask them. All other such bodies are refused: 415, or 502 for answers.',
    },
  ),
  max_request_body: integer({
    required: true,
    default: mebibyte,
    between: [1024, 8 * mebibyte],
    unit: 'bytes',
    description:
      'Largest request body that is masked, after its content coding is taken off; a larger one is answered with 413.',
  }),
  max_response_body: integer({
    required: true,
    default: 8 * mebibyte,
    between: [1024, 8 * mebibyte],
    unit: 'bytes',
    description:
      'Largest body of an answer that is masked, after its content coding is taken off; a larger one makes a 502.',
  }),
  always_use_authenticated_groups: boolean({
    required: true,
    default: false,
    description:
      'Use the groups that the authentication vouches for, where it names any, also when there is a consumer; else they are used only without one. As in `acl`.',
  }),
});

export type DataMaskingConfig = Infer<typeof config>;
export type RuleConfig = DataMaskingConfig['rules'][number];

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

/** What is wrong with rules whose fields are right, or null. */
export function rulesProblem(value: DataMaskingConfig): string | null {
  const names = new Set<string>();
  for (const one of value.rules) {
    if (names.has(one.name)) return `two rules are called '${one.name}'`;
    names.add(one.name);
    const problem = ruleProblem(one, value.hash_key);
    if (problem !== null) return `rule '${one.name}': ${problem}`;
  }
  return null;
}

function ruleProblem(one: RuleConfig, key: string | null): string | null {
  const places = [one.json_paths, one.xml_paths, one.form_fields, one.query_arguments, one.headers];
  const named = places.some((list) => list !== null && list.length > 0);
  const searches = (one.kinds?.length ?? 0) + (one.patterns?.length ?? 0) > 0;
  if (!named && !searches) return 'it names neither a place nor kinds nor patterns';
  if (!searches && (one.in?.length ?? 0) > 0) return '`in` is for rules with kinds or patterns';
  if (!searches && one.mask_names) return '`mask_names` is for rules with kinds or patterns';
  if (one.action === 'hash' && key === null) return 'a hash needs `hash_key`';
  try {
    compileJsonPaths([one.json_paths ?? []]);
    for (const path of one.xml_paths ?? []) checkXmlPath(path);
    compileRules([one], key);
  } catch (error) {
    return (error as Error).message;
  }
  return null;
}
