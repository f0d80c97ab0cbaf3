import { jsonFieldProblem } from '../../plugin-kit/json/index.ts';
import {
  argumentProblem,
  argumentRenameProblem,
  fieldProblem,
  fieldRenameProblem,
  headerRenameProblem,
  headerValueProblem,
  uriProblem,
} from '../../plugin-kit/templates/index.ts';
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
      `Fields of the body as \`name:value\`, ${what} In JSON the name may be a JSONPath (RFC 9535): \`$.data.items[*].id\`.`,
    ),
    headers: list(headerValueProblem, `Headers as \`name:value\`, ${what}`),
    querystring: list(argumentProblem, `Query arguments as \`name:value\`, ${what}`),
  };
}

const onlyThere = 'set if the name exists.';
const onlyAbsent = 'set if the name does not exist.';
const always = 'added in addition to what exists.';

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
      body: list(
        jsonFieldProblem,
        'Fields of the body to remove; in JSON also JSONPaths (RFC 9535): `$.data.items[*].id`.',
      ),
      headers: array(headerName(), { required: true, default: [], description: 'Headers to remove.' }),
      querystring: list(null, 'Query arguments to remove.'),
    },
    { description: 'Names to remove. Runs first.' },
  ),
  rename: record(
    {
      body: list(
        fieldRenameProblem,
        'Fields of the body to rename as `old:new`; in JSON the old name may be a JSONPath (RFC 9535).',
      ),
      headers: list(headerRenameProblem, 'Headers to rename, as `old:new`.'),
      querystring: list(argumentRenameProblem, 'Query arguments to rename, as `old:new`.'),
    },
    { description: 'Names to change; the values stay.' },
  ),
  replace: record(
    {
      ...values(onlyThere),
      uri: string({
        custom: uriProblem,
        description:
          'Path of the request to the backend, a template. The path of the service is not prepended; the query stays. Values are percent-encoded, including slashes, except those of `uri_captures` and `path(...)`.',
      }),
    },
    { description: 'Values to change where the name exists.' },
  ),
  add: record(values(onlyAbsent), { description: 'Values to set where the name does not exist.' }),
  append: record(values(always), { description: 'Values to add in any case.' }),
  max_body_size: integer({
    required: true,
    default: 8_388_608,
    between: [1, 8_388_608],
    unit: 'bytes',
    description: 'Maximum size of a body that is changed, measured after decoding. A larger one is answered with 413.',
  }),
});

export type RequestTransformerConfig = Infer<typeof config>;
