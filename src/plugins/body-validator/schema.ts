import { mediaRangePattern } from '../../plugin-sdk/json-schema/media-ranges.ts';
import { longestSchema } from '../../plugin-sdk/json-schema/schema-limits.ts';
import { loadNow } from '../../plugin-sdk/load-now.ts';
import { offThread } from '../../plugin-sdk/off-thread.ts';
import {
  boolean,
  type EntityCheck,
  type Infer,
  integer,
  record,
  set,
  slowCheck,
  string,
} from '../../plugin-sdk/schema.ts';

export const config = record({
  schema: string({
    len_max: longestSchema,
    description: 'JSON Schema of request bodies, as JSON text. Null: request bodies are not checked.',
  }),
  response_schema: string({
    len_max: longestSchema,
    description: 'JSON Schema of answers, as JSON text. Null: answers are not checked.',
  }),
  version: string({
    required: true,
    default: '2020-12',
    one_of: ['draft-04', 'draft-06', 'draft-07', '2019-09', '2020-12'],
    description: 'The draft of schemas that do not name theirs by `$schema`.',
  }),
  mode: string({
    required: true,
    default: 'enforce',
    one_of: ['enforce', 'report'],
    description: 'Wrong requests are refused, or pass and are counted and logged.',
  }),
  response_mode: string({
    required: true,
    default: 'report',
    one_of: ['enforce', 'report'],
    description: 'Wrong answers pass and are counted and logged, or the client gets 502 in their place.',
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
      description: 'Types of request bodies that are read as JSON and checked. Any other one is refused with 415.',
    },
  ),
  required_methods: set(string({ match: /^[A-Z]+$/, description: 'A method.' }), {
    required: true,
    default: ['POST', 'PUT', 'PATCH'],
    description: 'Methods whose requests must have a body. A body is checked whatever the method is.',
  }),
  response_statuses: set(string({ match: /^[2-5](?:\d\d|XX)$/, description: 'A status or `2XX`.' }), {
    required: true,
    default: ['2XX'],
    description: 'Statuses of the answers that are checked.',
  }),
  max_body_size: integer({
    required: true,
    default: 1_048_576,
    between: [1, 8_388_608],
    unit: 'bytes',
    description:
      'Largest body of a request (413 beyond), and of an answer that is checked: a larger one passes unchecked, or is answered with 502 when `response_mode` is `enforce`.',
  }),
  max_errors: integer({
    required: true,
    default: 10,
    between: [1, 50],
    description: 'Most violations that a refusal lists. Of a body beyond 16 KB only the first one is looked for.',
  }),
  verbose: boolean({
    required: true,
    default: true,
    description: 'Refusals tell what is wrong and where. Without it only that the body is not valid.',
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
  apart: offThread<[BodyValidatorConfig], Problems>(new URL('./problems.ts', import.meta.url), 'problemsOf', {
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
