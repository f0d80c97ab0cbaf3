import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { boolean, headerName, httpMethod, integer, number, record, set, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  url: string({
    required: true,
    match: /^https?:\/\/[^\s/?#@]+(?:\/[^\s?#]*)?$/,
    description:
      'URL of the mirror: scheme, host, port, and a path that is prepended to that of the request. It is not a target of the gateway, so no policies of the service apply.',
  }),
  percent: number({
    required: true,
    default: 100,
    between: [0, 100],
    description: 'Percentage of requests that are copied, chosen at random.',
  }),
  methods: set(httpMethod(), {
    description: 'Methods of requests that are copied. Null: all.',
  }),
  with_body: boolean({
    required: true,
    default: false,
    description:
      'Copies bodies, too. The request then waits until its body is complete. If off, requests with a body are not copied.',
  }),
  max_body: integer({
    required: true,
    default: 1_048_576,
    between: [1, 67_108_864],
    description:
      'Maximum size of a body in bytes. Requests with a larger body, or one of undeclared length, are not copied.',
  }),
  timeout: integer({
    required: true,
    default: 5_000,
    between: [1, 600_000],
    description: 'Time in milliseconds after which a copy is aborted.',
  }),
  max_in_flight: integer({
    required: true,
    default: 100,
    between: [1, 10_000],
    description: 'Maximum number of copies in flight per worker. Beyond it requests are not copied.',
  }),
  remove_headers: set(headerName(), {
    required: true,
    default: [],
    description: 'Headers that are removed from copies, such as `Authorization` and `Cookie`.',
  }),
  tls_verify: boolean({
    required: true,
    default: true,
    description: 'Verifies the certificate of an https mirror.',
  }),
});

export type RequestMirrorConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [];
