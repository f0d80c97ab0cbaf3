import {
  boolean,
  type EntityCheck,
  headerName,
  httpMethod,
  type Infer,
  integer,
  number,
  record,
  set,
  string,
} from '../../plugin-sdk/schema.ts';

export const config = record({
  url: string({
    required: true,
    match: /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/,
    description:
      "Where copies go: scheme, host, port, and a path that is put before that of the request. It is not a target of the gateway, so it has none of the service's policies.",
  }),
  percent: number({
    required: true,
    default: 100,
    between: [0, 100],
    description: 'Share of the requests that are copied, in percent; chosen by chance.',
  }),
  methods: set(httpMethod(), {
    description: 'Methods that are copied. Null: all.',
  }),
  with_body: boolean({
    required: true,
    default: false,
    description:
      'Copies bodies too. The request then waits until its body has come whole. Without it, requests with a body are not copied.',
  }),
  max_body: integer({
    required: true,
    default: 1_048_576,
    between: [1, 67_108_864],
    description: 'Largest body in bytes. Requests with a larger one, or with one of undeclared length, are not copied.',
  }),
  timeout: integer({
    required: true,
    default: 5_000,
    between: [1, 600_000],
    description: 'Milliseconds until a copy is given up.',
  }),
  max_in_flight: integer({
    required: true,
    default: 100,
    between: [1, 10_000],
    description:
      'Copies on their way at the same time, for each worker. While there are so many, requests are not copied.',
  }),
  remove_headers: set(headerName(), {
    required: true,
    default: [],
    description: 'Headers that copies go without, such as `Authorization` and `Cookie`.',
  }),
  tls_verify: boolean({
    required: true,
    default: true,
    description: 'The certificate of an https address must be valid.',
  }),
});

export type RequestMirrorConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [];
