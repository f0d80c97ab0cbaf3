import {
  fieldProblem,
  fieldRenameProblem,
  headerRenameProblem,
  headerValueProblem,
  jsonFieldProblem,
  jsonValueProblem,
} from '../../plugin-sdk/index.ts';
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
      `\`name:value\` of fields of a JSON body: ${what} The name may be a path: \`data.items[*].id\`.`,
    ),
    json_types: array(string({ one_of: ['boolean', 'number', 'string'] }), {
      required: true,
      default: [],
      description: 'Types of the values of `json`, in their order; those without one are strings.',
    }),
    headers: list((text) => headerValueProblem(text, 'answer'), `\`name:value\` of headers: ${what}`),
  };
}

export const config = record({
  remove: record(
    {
      json: list(jsonFieldProblem, 'Names of fields of a JSON body, or paths.'),
      headers: list(null, 'Names of headers.'),
    },
    { description: 'What is taken out, first of all.' },
  ),
  rename: record(
    {
      json: list(fieldRenameProblem, '`old:new` of fields of a JSON body; the old name may be a path.'),
      headers: list(headerRenameProblem, '`old:new` of headers.'),
    },
    { description: 'What gets another name, and keeps its value.' },
  ),
  replace: record(values('set where something of the name is there.'), { description: 'What gets another value.' }),
  add: record(values('set where nothing of the name is there.'), { description: 'What is set if it is not there.' }),
  append: record(values('added beside what is there.'), { description: 'What is added in any case.' }),
  if_status: array(string({ match: /^[1-5]\d\d(-[1-5]\d\d)?$/, custom: statusesProblem }), {
    required: true,
    default: [],
    description: 'Answers that are changed: statuses and ranges, `200-299`, `404`. Empty: all.',
  }),
  max_body_size: integer({
    required: true,
    default: 8_388_608,
    between: [1, 8_388_608],
    unit: 'bytes',
    description: 'Largest JSON body that is changed, without its content coding. A larger one gives 502.',
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
