import { maxSchemaLength } from '../../plugin-kit/json-schema/index.ts';
import { loadNow, offThread } from '../../plugin-kit/runtime/index.ts';
import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { array, boolean, integer, record, set, slowCheck, string } from '../../plugin-sdk/schema.ts';
import { versions } from './versions.ts';

const parameter = record(
  {
    in: string({ required: true, one_of: ['query', 'header', 'path'], description: 'Location of the parameter.' }),
    name: string({
      required: true,
      len_max: 200,
      description: "Name of the parameter. In a path: name of a capture of the route's path.",
    }),
    required: boolean({ required: true, default: false, description: 'Rejects requests without the parameter.' }),
    style: string({
      one_of: ['label', 'form', 'matrix', 'simple', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
      description: 'Serialization of lists and objects, as in OpenAPI. Null: `form` in queries, else `simple`.',
    }),
    explode: boolean({ description: 'Whether lists and objects are exploded, as in OpenAPI. Null: true with `form`.' }),
    schema: string({ len_max: 65_536, description: 'JSON Schema of the value, as JSON text. Null: any value.' }),
  },
  { description: 'A parameter.' },
);

export const config = record({
  body_schema: string({
    len_max: maxSchemaLength,
    description: 'Schema of request bodies, as JSON text in the format of `version`. Null: bodies are not validated.',
  }),
  parameter_schema: array(parameter, { len_max: 200, description: 'Parameters that are validated.' }),
  version: string({
    required: true,
    default: 'kong',
    one_of: versions,
    description: "Format of the schemas: JSON Schema, or Kong's own format (for bodies; parameters are draft4 then).",
  }),
  allowed_content_types: set(
    string({
      match: /^[^\s;/]+\/[^\s;]+ *(?:;.*)?$/,
      err: 'must be a media type, with or without parameters',
      description: 'A media type.',
    }),
    {
      required: true,
      default: ['application/json'],
      description:
        'Accepted content types of request bodies, if `body_schema` is set; `application/*` and `*/*` are wildcards. JSON bodies are validated, others pass.',
    },
  ),
  content_type_parameter_validation: boolean({
    required: true,
    default: true,
    description:
      'An allowed type with parameters (`; charset=utf-8`) accepts only those. If off, parameters are ignored.',
  }),
  verbose_response: boolean({
    required: true,
    default: false,
    description: 'Responses list the errors.',
  }),
  max_body_size: integer({
    required: true,
    default: 1_048_576,
    between: [1, 8_388_608],
    unit: 'bytes',
    description:
      'Maximum size of a request body, if `body_schema` is set. A larger one is answered with 413. Kong has no such field.',
  }),
});

export type RequestValidatorConfig = Infer<typeof config>;

/** Characters of a configuration that are checked at once. */
const fastConfig = 16_384;

type Problems = Readonly<Record<string, string>> | null;

const problemsIn = slowCheck<RequestValidatorConfig, Problems>({
  key: (given) => `request-validator ${JSON.stringify(given)}`,
  isFast: (given) => JSON.stringify(given).length <= fastConfig,
  now: (given) => loadNow<typeof import('./problems.ts')>(import.meta.url, './problems.ts').problemsOf(given),
  offThread: offThread<[RequestValidatorConfig], Problems>(new URL('./problems.ts', import.meta.url), 'problemsOf', {
    deadline: 30_000,
  }),
  failed: (reason) => ({ '@entity': `the schemas could not be checked: ${reason}` }),
});

export const checks: readonly EntityCheck[] = [
  { at_least_one_of: ['config.body_schema', 'config.parameter_schema'] },
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: given }) => problemsIn(given as RequestValidatorConfig),
    },
  },
];
