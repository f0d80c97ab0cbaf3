import { array, headerName, type Infer, integer, record, string, timeout } from '../../plugin-sdk/schema.ts';
import { type PlanConfig, planProblems } from './plan.ts';
import { request } from './request-schema.ts';

export const config = record(
  {
    requests: array(request, {
      required: true,
      len_min: 1,
      len_max: 32,
      description: 'The parts of the answer, one backend call each, or one for each element of a list (`each`).',
    }),
    timeout: timeout({
      required: true,
      default: 10_000,
      description: 'Time for all calls together. A part that is not there by then counts as too late.',
    }),
    max_body_size: integer({
      required: true,
      default: 8_388_608,
      between: [1, 8_388_608],
      unit: 'bytes',
      description: 'Largest sum of the bodies of all answers, and largest document. Beyond it the client gets 502.',
    }),
    max_calls: integer({
      required: true,
      default: 50,
      between: [1, 1_000],
      description: 'Most backend calls for one request of a client, those of each `each` included.',
    }),
    max_request_body: integer({
      required: true,
      default: 1_048_576,
      between: [1, 8_388_608],
      unit: 'bytes',
      description: "Largest body of the client's request. It is read only when a template names `{body}`.",
    }),
    errors_field: string({
      required: true,
      default: 'errors',
      match: /^[^[\]{}\s'"]+$/,
      description:
        'Member of the document that lists the optional parts that have failed. It is there only when one has.',
    }),
    response_headers: array(
      record(
        {
          part: string({ required: true, description: 'Name of a part without `each`.' }),
          names: array(headerName(), {
            required: true,
            len_min: 1,
            description: 'Headers of its answer.',
          }),
        },
        { description: 'Headers that one part gives.' },
      ),
      {
        description:
          'Headers of the answers that the client gets. `Set-Cookie`, `Link`, `Vary` and tags come from every part that is named for them, any other from the first that has it.',
      },
    ),
    cache_control: string({
      required: true,
      default: 'none',
      one_of: ['none', 'merge'],
      description:
        'What the answer says of caching: nothing, or the strictest of what the parts say. A part that says nothing must be asked again. An incomplete answer always says `no-store`, and with `merge` so does one with `each`.',
    }),
  },
  {
    checks: [
      {
        custom_entity_check: {
          field_sources: ['requests', 'response_headers'],
          fn: (given: Readonly<Record<string, unknown>>) => planProblems(given as unknown as PlanConfig),
        },
      },
    ],
  },
);

export type AggregateConfig = Infer<typeof config>;
