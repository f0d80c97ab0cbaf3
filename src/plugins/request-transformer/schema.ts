import {
  argumentProblem,
  argumentRenameProblem,
  fieldProblem,
  fieldRenameProblem,
  headerRenameProblem,
  headerValueProblem,
  jsonFieldProblem,
  uriProblem,
} from '../../plugin-sdk/index.ts';
import { array, headerName, type Infer, integer, record, string } from '../../plugin-sdk/schema.ts';

/** A list that may be empty and is never null. */
function list(custom: ((text: string) => string | null) | null, description: string) {
  const element = custom === null ? string() : string({ custom });
  return array(element, { required: true, default: [], description });
}

/** Names and values of headers, query and body, as `replace`, `add` and `append` have them. */
function values(what: string) {
  return {
    body: list(
      fieldProblem,
      `\`name:value\` of fields of the body: ${what} In JSON the name may be a path: \`data.items[*].id\`.`,
    ),
    headers: list(headerValueProblem, `\`name:value\` of headers: ${what}`),
    querystring: list(argumentProblem, `\`name:value\` of arguments of the query: ${what}`),
  };
}

const onlyThere = 'set where something of the name is there.';
const onlyAbsent = 'set where nothing of the name is there.';
const beside = 'added beside what is there.';

export const config = record({
  http_method: string({
    match: /^[A-Z]+$/,
    len_max: 32,
    not_one_of: ['CONNECT', 'TRACE'],
    description:
      'Method of the request to the backend. With `GET`, `HEAD` and `DELETE` the fields of an urlencoded form move to the query.',
  }),
  remove: record(
    {
      body: list(jsonFieldProblem, 'Names of fields of the body; in JSON also paths.'),
      headers: array(headerName(), { required: true, default: [], description: 'Names of headers.' }),
      querystring: list(null, 'Names of arguments of the query.'),
    },
    { description: 'What is taken out, first of all.' },
  ),
  rename: record(
    {
      body: list(fieldRenameProblem, '`old:new` of fields of the body; in JSON the old name may be a path.'),
      headers: list(headerRenameProblem, '`old:new` of headers.'),
      querystring: list(argumentRenameProblem, '`old:new` of arguments of the query.'),
    },
    { description: 'What gets another name, and keeps its value.' },
  ),
  replace: record(
    {
      ...values(onlyThere),
      uri: string({
        custom: uriProblem,
        description:
          'Path of the request to the backend, a template; the path of the service does not go before it, the query stays. Values ' +
          'are percent-encoded, slashes too; those of `uri_captures` and of `path(...)` keep theirs.',
      }),
    },
    { description: 'What gets another value.' },
  ),
  add: record(values(onlyAbsent), { description: 'What is set if it is not there.' }),
  append: record(values(beside), { description: 'What is added in any case.' }),
  max_body_size: integer({
    required: true,
    default: 8_388_608,
    between: [1, 8_388_608],
    unit: 'bytes',
    description: 'Largest body that is changed, without its content coding. A larger one is answered with 413.',
  }),
});

export type RequestTransformerConfig = Infer<typeof config>;
