import { maxSchemaLength, mediaRangePattern } from '../../plugin-kit/json-schema/index.ts';
import { loadNow, offThread } from '../../plugin-kit/runtime/index.ts';
import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { boolean, integer, record, set, slowCheck, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  schema: string({
    len_max: maxSchemaLength,
    description: 'JSON Schema of request bodies, as JSON text. Null: request bodies are not validated.',
  }),
  response_schema: string({
    len_max: maxSchemaLength,
    description: 'JSON Schema of responses, as JSON text. Null: responses are not validated.',
  }),
  version: string({
    required: true,
    default: '2020-12',
    one_of: ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'],
    description: 'Draft of schemas without `$schema`.',
  }),
  mode: string({
    required: true,
    default: 'enforce',
    one_of: ['enforce', 'report'],
    description: '`enforce`: rejects invalid requests. `report`: lets them pass, and counts and logs them.',
  }),
  response_mode: string({
    required: true,
    default: 'report',
    one_of: ['enforce', 'report'],
    description: '`enforce`: replaces invalid responses by 502. `report`: lets them pass, and counts and logs them.',
  }),
  content_types: set(
    string({
      match: mediaRangePattern,
      err: 'must be a media type in lower case, without parameters: type/subtype, type/*, type/*+suffix or */*',
      description: 'A media type.',
    }),
    {
      required: true,
      default: ['application/json', 'application/*+json'],
      len_min: 1,
      description: 'Content types of request bodies that are validated as JSON. Others are rejected with 415.',
    },
  ),
  required_methods: set(string({ match: /^[A-Z]+$/, description: 'A method.' }), {
    required: true,
    default: ['POST', 'PUT', 'PATCH'],
    description: 'Methods whose requests must have a body. A body is validated with any method.',
  }),
  response_statuses: set(string({ match: /^[2-5](?:\d\d|XX)$/, description: 'A status or `2XX`.' }), {
    required: true,
    default: ['2XX'],
    description: 'Statuses of the responses that are validated.',
  }),
  max_body_size: integer({
    required: true,
    default: 1_048_576,
    between: [1, 8_388_608],
    unit: 'bytes',
    description:
      'Maximum size of a request body (413 beyond), and of a response that is validated. Larger responses pass unvalidated, or are replaced by 502 if `response_mode` is `enforce`.',
  }),
  max_errors: integer({
    required: true,
    default: 10,
    between: [1, 50],
    description: 'Maximum number of errors in a response. For bodies over 16 KB only the first error is reported.',
  }),
  verbose: boolean({
    required: true,
    default: true,
    description: 'Responses list the errors. If off, they only say that the body is not valid.',
  }),
});

export type BodyValidatorConfig = Infer<typeof config>;

/** Characters of a configuration that are checked at once. */
const fastConfig = 16_384;

type Problems = Readonly<Record<string, string>> | null;

const problemsIn = slowCheck<BodyValidatorConfig, Problems>({
  key: (given) => `body-validator ${JSON.stringify(given)}`,
  isFast: (given) => JSON.stringify(given).length <= fastConfig,
  now: (given) => loadNow<typeof import('./problems.ts')>(import.meta.url, './problems.ts').problemsOf(given),
  offThread: offThread<[BodyValidatorConfig], Problems>(new URL('./problems.ts', import.meta.url), 'problemsOf', {
    deadline: 30_000,
  }),
  failed: (reason) => ({ '@entity': `the schemas could not be checked: ${reason}` }),
});

export const checks: readonly EntityCheck[] = [
  { at_least_one_of: ['config.schema', 'config.response_schema'] },
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: given }) => problemsIn(given as BodyValidatorConfig),
    },
  },
];
