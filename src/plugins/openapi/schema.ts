import type { ApiConfig } from '../../plugin-kit/openapi/index.ts';
import { loadNow, offThread } from '../../plugin-kit/runtime/index.ts';
import { boolean, type EntityCheck, type Infer, integer, record, slowCheck, string } from '../../plugin-sdk/schema.ts';

/** Maximum bytes of a document. The subpath `openapi` has the same limit, and loads the validator. */
const largestDocument = 4_194_304;

export const config = record({
  document: string({
    len_max: largestDocument,
    description: 'The OpenAPI document (3.0 or 3.1) as text, JSON or YAML.',
  }),
  file: string({
    starts_with: '/',
    description:
      'Path of a file with the document, on every node. It is read when the plugin is configured and when the gateway starts.',
  }),
  base_path: string({
    starts_with: '/',
    description: "Prefix of the document's paths in requests of clients. Null: the paths of its `servers`. `/`: none.",
  }),
  mode: string({
    required: true,
    default: 'enforce',
    one_of: ['enforce', 'report', 'off'],
    description:
      '`enforce`: rejects invalid requests. `report`: lets them pass, and counts and logs them. `off`: does not validate requests.',
  }),
  response_mode: string({
    required: true,
    default: 'off',
    one_of: ['off', 'report', 'enforce'],
    description:
      '`off`: responses are not validated. `report`: a copy is validated while the response is streamed. `enforce`: responses are buffered, and an invalid one is replaced by 502.',
  }),
  undeclared_query: string({
    required: true,
    default: 'allow',
    one_of: ['allow', 'refuse'],
    description: 'What happens to query arguments that the operation does not declare.',
  }),
  mock: boolean({
    required: true,
    default: false,
    description:
      'Answers from the examples of the document, without a backend. Such responses have `X-Mock-Response: true`.',
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
    description: 'Maximum number of errors in a response.',
  }),
  verbose: boolean({
    required: true,
    default: true,
    description: 'Responses list the errors. If off, they only say that the request is not valid.',
  }),
});

export type OpenApiConfig = Infer<typeof config>;

/** Characters of a document that are checked at once; about 2 us for each. A file may be of any size. */
const fastDocument = 16_384;

const problemOf = slowCheck<ApiConfig, string | null>({
  key: ({ document, file, base_path }) => `openapi ${JSON.stringify([document, file, base_path])}`,
  isFast: ({ document }) => document !== null && document.length <= fastDocument,
  now: (given) =>
    loadNow<typeof import('./check-document.ts')>(import.meta.url, './check-document.ts').apiProblem(given),
  offThread: offThread<[ApiConfig], string | null>(new URL('./check-document.ts', import.meta.url), 'apiProblem', {
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
