import type { Infer } from '../../../plugin-sdk/schema.ts';
import { array, boolean, headerName, integer, record, regex, set, string } from '../../../plugin-sdk/schema.ts';
import { kindNames } from '../kinds/kinds.ts';

export const rule = record(
  {
    name: string({
      required: true,
      match: /^[A-Za-z0-9_.-]{1,64}$/,
      description: 'Name of the rule in messages. Letters, digits, `_`, `.` and `-`.',
    }),
    json_paths: array(string({ len_max: 1024, description: 'A path such as `$.users[*].email` or `$..iban`.' }), {
      len_max: 64,
      description: 'Places in JSON bodies, as JSONPath (RFC 9535), including filters.',
    }),
    xml_paths: array(
      string({ len_max: 1024, description: 'A path such as `/order/customer/email` or `//card/@number`.' }),
      {
        len_max: 64,
        description:
          'Elements and attributes in XML bodies: `/a/b` from the root, `b` or `//b` anywhere, `*` for any name, `@id` at the end. Names are compared without prefixes.',
      },
    ),
    form_fields: array(string({ description: 'Name of a field, case-sensitive.' }), {
      len_max: 64,
      description: 'Fields of forms, urlencoded and multipart.',
    }),
    query_arguments: array(string({ description: 'Name of an argument, case-sensitive.' }), {
      len_max: 64,
      description: 'Query arguments of the request.',
    }),
    headers: array(headerName({ description: 'Name of a header, case-insensitive.' }), {
      len_max: 64,
      description: 'Headers of requests and responses.',
    }),
    kinds: set(string({ one_of: kindNames }), {
      description:
        'Masks values of these kinds in the places of the rule, or in whole bodies if it names no place. Card numbers and IBANs must have valid check digits.',
    }),
    patterns: array(regex({ len_max: 1024, description: 'A regular expression in the syntax of RE2.' }), {
      len_max: 32,
      description:
        'Masks matches of these expressions in the places of the rule, or in whole bodies if it names no place.',
    }),
    in: set(string({ one_of: ['body', 'headers', 'query'] }), {
      description:
        'Where `kinds` and `patterns` are searched in addition to the places of the rule: whole bodies, all headers, all arguments. Null: bodies if the rule names no place.',
    }),
    mask_names: boolean({
      required: true,
      default: false,
      description: 'Searches `kinds` and `patterns` in the names of JSON members and form fields, too.',
    }),
    direction: string({
      required: true,
      default: 'both',
      one_of: ['both', 'request', 'response', 'log'],
      description: 'Messages that the rule masks. Every rule masks logs; `log` masks nothing else.',
    }),
    action: string({
      required: true,
      default: 'replace',
      one_of: ['replace', 'hash', 'keep_first', 'keep_last', 'keep_domain'],
      description:
        'What replaces a value: `text`; a keyed hash; or `text` and a part of the value: its first or last characters, or the domain of an email address.',
    }),
    text: string({
      required: true,
      default: '***',
      len_min: 0,
      len_max: 64,
      match: /^[\x20-\x7e]*$/,
      description: 'Replaces the masked part. ASCII.',
    }),
    keep: integer({
      required: true,
      default: 4,
      between: [1, 32],
      unit: 'characters',
      description: 'Letters and digits that `keep_first` and `keep_last` keep; at most half of the value.',
    }),
    hash_length: integer({
      required: true,
      default: 16,
      between: [8, 64],
      unit: 'characters',
      description: 'Number of hexadecimal digits of a hash.',
    }),
    except_groups: array(string({ description: 'Name of a group.' }), {
      len_max: 64,
      description: 'Groups of consumers that the rule does not apply to. In logs it always applies.',
    }),
  },
  { description: 'What is masked, where, and how.' },
);

export type RuleConfig = Infer<typeof rule>;
