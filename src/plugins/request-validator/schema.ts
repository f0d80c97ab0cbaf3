import { longestSchema } from '../../plugin-sdk/json-schema/schema-limits.ts';
import { loadNow } from '../../plugin-sdk/load-now.ts';
import { offThread } from '../../plugin-sdk/off-thread.ts';
import {
  array,
  boolean,
  type EntityCheck,
  type Infer,
  integer,
  record,
  set,
  slowCheck,
  string,
} from '../../plugin-sdk/schema.ts';
import { versions } from './versions.ts';

const parameter = record(
  {
    in: string({ required: true, one_of: ['query', 'header', 'path'], description: 'Where the parameter stands.' }),
    name: string({
      required: true,
      len_max: 200,
      description: 'Its name. In a path: of a named capture of the path of the route.',
    }),
    required: boolean({ required: true, default: false, description: 'A request without it is refused.' }),
    style: string({
      one_of: ['label', 'form', 'matrix', 'simple', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
      description: 'How lists and objects are written, as in OpenAPI. Null: `form` in queries, else `simple`.',
    }),
    explode: boolean({ description: 'Lists and objects are written in parts, as in OpenAPI. Null: true with `form`.' }),
    schema: string({ len_max: 65_536, description: 'JSON Schema of its value, as JSON text. Null: any value.' }),
  },
  { description: 'A parameter.' },
);

export const config = record({
  body_schema: string({
    len_max: longestSchema,
    description: 'Schema of request bodies, as JSON text in the format of `version`. Null: bodies are not checked.',
  }),
  parameter_schema: array(parameter, { len_max: 200, description: 'Parameters that are checked.' }),
  version: string({
    required: true,
    default: 'kong',
    one_of: versions,
    description:
      "Format of the schemas: JSON Schema, or Kong's own list of fields (for bodies; parameters are draft4 then).",
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
        'Types of request bodies, when `body_schema` is set; `application/*` and `*/*` stand for many. Those in JSON are checked, others pass.',
    },
  ),
  content_type_parameter_validation: boolean({
    required: true,
    default: true,
    description:
      'An allowed type that names parameters (`; charset=utf-8`) takes only those. Off: parameters do not count.',
  }),
  verbose_response: boolean({
    required: true,
    default: false,
    description: 'Refusals tell what is wrong and where.',
  }),
  max_body_size: integer({
    required: true,
    default: 1_048_576,
    between: [1, 8_388_608],
    unit: 'bytes',
    description: 'Largest body of a request, when `body_schema` is set. 413 beyond. Kong has no such field.',
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
  apart: offThread<[RequestValidatorConfig], Problems>(new URL('./problems.ts', import.meta.url), 'problemsOf', {
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
