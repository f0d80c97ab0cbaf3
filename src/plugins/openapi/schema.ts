import { loadNow } from '../../plugin-sdk/load-now.ts';
import { offThread } from '../../plugin-sdk/off-thread.ts';
import { boolean, type EntityCheck, type Infer, integer, record, slowCheck, string } from '../../plugin-sdk/schema.ts';
import type { ApiConfig } from './api.ts';
import { largestDocument } from './largest-document.ts';

export const config = record({
  document: string({
    len_max: largestDocument,
    description: 'The OpenAPI document (3.0 or 3.1) as text, JSON or YAML.',
  }),
  file: string({
    starts_with: '/',
    description:
      'A file with the document on the machine of the gateway, on every node the same; read when the plugin is configured and when the gateway starts.',
  }),
  base_path: string({
    starts_with: '/',
    description:
      'What stands before the paths of the document in the requests of clients. Null: the paths of its `servers`. `/` for nothing.',
  }),
  mode: string({
    required: true,
    default: 'enforce',
    one_of: ['enforce', 'report', 'off'],
    description: 'Wrong requests are refused, pass and are counted and logged, or are not looked at.',
  }),
  response_mode: string({
    required: true,
    default: 'off',
    one_of: ['off', 'report', 'enforce'],
    description:
      'Answers are not looked at, a copy of them is checked while they pass, or they are held and a wrong one is answered with 502.',
  }),
  undeclared_query: string({
    required: true,
    default: 'allow',
    one_of: ['allow', 'refuse'],
    description: 'Query arguments that the operation does not declare.',
  }),
  mock: boolean({
    required: true,
    default: false,
    description:
      'Answers come from the examples of the document, and no backend is asked. They have `X-Mock-Response: true`.',
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
    description: 'Most violations that a refusal lists.',
  }),
  verbose: boolean({
    required: true,
    default: true,
    description: 'Refusals tell what is wrong and where. Without it only that the request is not valid.',
  }),
});

export type OpenApiConfig = Infer<typeof config>;

/** Characters of a document that are checked at once; about 2 us for each. A file may be of any size. */
const fastDocument = 16_384;

const problemOf = slowCheck<ApiConfig, string | null>({
  key: ({ document, file, base_path }) => `openapi ${JSON.stringify([document, file, base_path])}`,
  isFast: ({ document }) => document !== null && document.length <= fastDocument,
  now: (given) => loadNow<typeof import('./api.ts')>(import.meta.url, './api.ts').apiProblem(given),
  apart: offThread<[ApiConfig], string | null>(new URL('./api.ts', import.meta.url), 'apiProblem', {
    deadline: 30_000,
  }),
  failed: (reason) => `it could not be checked: ${reason}`,
});

export const checks: readonly EntityCheck[] = [
  { only_one_of: ['config.document', 'config.file'] },
  {
    custom_entity_check: {
      field_sources: ['config'],
      fn: ({ config: value }) => {
        const given = value as ApiConfig;
        if ((given.document === null) === (given.file === null)) return null;
        const problem = problemOf({ document: given.document, file: given.file, base_path: given.base_path });
        if (problem === null) return null;
        return { [given.document === null ? 'config.file' : 'config.document']: `cannot be used: ${problem}` };
      },
    },
  },
];
