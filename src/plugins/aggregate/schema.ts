import { array, headerName, type Infer, integer, record, string, timeout } from '../../plugin-sdk/schema.ts';
import { type PlanConfig, planProblems } from './plan.ts';
import { request } from './request-schema.ts';

export const config = record(
  {
    requests: array(request, {
      required: true,
      len_min: 1,
      len_max: 32,
      description: 'The parts of the document: one backend call each, or one for each element of a list (`each`).',
    }),
    timeout: timeout({
      required: true,
      default: 10_000,
      description: 'Timeout of all calls together. A part that is missing by then counts as a timeout.',
    }),
    max_body_size: integer({
      required: true,
      default: 8_388_608,
      between: [1, 8_388_608],
      unit: 'bytes',
      description:
        'Maximum size of the bodies of all responses together, and of the document. Beyond it the client gets 502.',
    }),
    max_calls: integer({
      required: true,
      default: 50,
      between: [1, 1_000],
      description: 'Maximum number of backend calls for one request, including those of each `each`.',
    }),
    max_request_body: integer({
      required: true,
      default: 1_048_576,
      between: [1, 8_388_608],
      unit: 'bytes',
      description: "Maximum size of the body of the client's request. It is read only if a template uses `{body}`.",
    }),
    errors_field: string({
      required: true,
      default: 'errors',
      match: /^[^[\]{}\s'"]+$/,
      description: 'Member of the document that lists failed optional parts. It is present only if there are any.',
    }),
    response_headers: array(
      record(
        {
          part: string({ required: true, description: 'Name of a part without `each`.' }),
          names: array(headerName(), {
            required: true,
            len_min: 1,
            description: 'Headers of its response that are forwarded.',
          }),
        },
        { description: 'Headers of one part.' },
      ),
      {
        description:
          'Headers of the responses that are forwarded to the client. `Set-Cookie`, `Link`, `Vary` and tags come from every part that is listed for them; any other comes from the first part that has it.',
      },
    ),
    cache_control: string({
      required: true,
      default: 'none',
      one_of: ['none', 'merge'],
      description:
        '`Cache-Control` of the response: none, or the strictest of the parts. A part without one counts as `no-cache`. An incomplete response always has `no-store`; with `merge` so does one with `each`.',
    }),
  },
  {
    checks: [
      {
        custom_entity_check: {
          field_sources: ['requests', 'response_headers'],
          fn: (candidate: Readonly<Record<string, unknown>>) => planProblems(candidate as unknown as PlanConfig),
        },
      },
    ],
  },
);

export type AggregateConfig = Infer<typeof config>;
