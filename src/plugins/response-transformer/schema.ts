import { jsonFieldProblem } from '../../plugin-kit/json/index.ts';
import {
  fieldProblem,
  fieldRenameProblem,
  headerRenameProblem,
  headerValueProblem,
  jsonValueProblem,
} from '../../plugin-kit/templates/index.ts';
import { array, type EntityCheck, type Infer, integer, record, string } from '../../plugin-sdk/schema.ts';
import { statusesProblem } from './statuses.ts';

/** A list that may be empty and is never null. */
function list(custom: ((text: string) => string | null) | null, description: string) {
  const element = custom === null ? string() : string({ custom });
  return array(element, { required: true, default: [], description });
}

/** Names and values of the JSON body and of headers, as `replace`, `add` and `append` have them. */
function values(what: string) {
  return {
    json: list(
      (text) => fieldProblem(text, 'answer'),
      `Fields of a JSON body as \`name:value\`, ${what} The name may be a JSONPath (RFC 9535): \`$.data.items[*].id\`.`,
    ),
    json_types: array(string({ one_of: ['boolean', 'number', 'string'] }), {
      required: true,
      default: [],
      description: 'Types of the values of `json`, in the same order. Default: string.',
    }),
    headers: list((text) => headerValueProblem(text, 'answer'), `Headers as \`name:value\`, ${what}`),
  };
}

export const config = record({
  remove: record(
    {
      json: list(jsonFieldProblem, 'Fields of a JSON body to remove, or JSONPaths (RFC 9535): `$.data.items[*].id`.'),
      headers: list(null, 'Headers to remove.'),
    },
    { description: 'Names to remove. Runs first.' },
  ),
  rename: record(
    {
      json: list(
        fieldRenameProblem,
        'Fields of a JSON body to rename, as `old:new`; the old name may be a JSONPath (RFC 9535).',
      ),
      headers: list(headerRenameProblem, 'Headers to rename, as `old:new`.'),
    },
    { description: 'Names to change; the values stay.' },
  ),
  replace: record(values('set if the name exists.'), { description: 'Values to change where the name exists.' }),
  add: record(values('set if the name does not exist.'), {
    description: 'Values to set where the name does not exist.',
  }),
  append: record(values('added in addition to what exists.'), { description: 'Values to add in any case.' }),
  if_status: array(string({ match: /^[1-5]\d\d(-[1-5]\d\d)?$/, custom: statusesProblem }), {
    required: true,
    default: [],
    description: 'Statuses of the responses that are changed, single or ranges: `200-299`, `404`. Empty: all.',
  }),
  max_body_size: integer({
    required: true,
    default: 8_388_608,
    between: [1, 8_388_608],
    unit: 'bytes',
    description: 'Maximum size of a JSON body that is changed, measured after decoding. A larger one gives 502.',
  }),
});

export type ResponseTransformerConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: given }) => typeProblems(given as ResponseTransformerConfig),
    },
  },
];

/** A value that is known now must be of its type now. */
function typeProblems(given: ResponseTransformerConfig): Readonly<Record<string, string>> | null {
  for (const place of ['replace', 'add', 'append'] as const) {
    const { json, json_types: types } = given[place];
    for (const [at, text] of json.entries()) {
      const problem = jsonValueProblem(text, types[at] ?? 'string');
      if (problem !== null) return { [`config.${place}.json`]: problem };
    }
  }
  return null;
}
