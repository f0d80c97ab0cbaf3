import {
  redisChecks,
  redisServer,
  redisShorthands,
  windowFields,
  windowOrderProblem,
} from '../../plugin-kit/fields/index.ts';
import { boolean, type EntityCheck, headerName, type Infer, map, record, string } from '../../plugin-sdk/schema.ts';

const periods = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;

const limit = record(windowFields('Units'), {
  description: 'How much of it may be used. A longer period cannot have a lower limit than a shorter one.',
  checks: [{ at_least_one_of: periods }, { custom_entity_check: { field_sources: periods, fn: windowOrderProblem } }],
});

export const config = record(
  {
    header_name: headerName({
      default: 'x-kong-limit',
      description: 'Response header in which the backend sends the cost of the request: `video=2, image=1`.',
    }),
    limit_by: string({
      default: 'consumer',
      one_of: ['consumer', 'credential', 'ip'],
      description:
        'What identifies a client. Requests without a consumer are counted by their credential, or else by their address.',
    }),
    policy: string({
      default: 'local',
      one_of: ['local', 'cluster', 'redis'],
      shared_store_values: ['cluster'],
      description: "Where counters are kept: on each node, in the gateway's store, or in Redis.",
    }),
    fault_tolerant: boolean({
      required: true,
      default: true,
      description: 'While the counters are unavailable: true lets requests pass, false answers them with 500.',
    }),
    redis: redisServer(),
    block_on_first_violation: boolean({
      required: true,
      default: false,
      description: 'Rejects requests as soon as one of the limits is used up, whatever they would cost.',
    }),
    hide_client_headers: boolean({
      required: true,
      default: false,
      description: 'Does not send the headers with limits and remaining units.',
    }),
    limits: map(
      string({ custom: nameProblem, description: 'Name of the cost; it becomes part of header names.' }),
      limit,
      { required: true, len_min: 1, description: 'Limits by name of the cost.' },
    ),
  },
  { shorthands: redisShorthands() },
);

export type ResponseRatelimitingConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = redisChecks;

/** RFC 9110 section 5.6.2; `=` and `,` have a meaning of their own anyway. */
function nameProblem(name: string): string | null {
  return /^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/.test(name) ? null : `'${name}' cannot be part of a header name`;
}
