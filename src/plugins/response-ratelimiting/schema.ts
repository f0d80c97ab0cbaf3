import {
  boolean,
  type EntityCheck,
  headerName,
  type Infer,
  map,
  record,
  redisChecks,
  redisServer,
  redisShorthands,
  string,
  windowFields,
  windowOrderProblem,
} from '../../plugin-sdk/schema.ts';

const periods = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;

const limit = record(windowFields('Units'), {
  description: 'How much of it may be used. A longer period cannot have a lower limit than a shorter one.',
  checks: [{ at_least_one_of: periods }, { custom_entity_check: { field_sources: periods, fn: windowOrderProblem } }],
});

export const config = record(
  {
    header_name: headerName({
      default: 'x-kong-limit',
      description: 'Response header in which the backend tells what the request cost: `video=2, image=1`.',
    }),
    limit_by: string({
      default: 'consumer',
      one_of: ['consumer', 'credential', 'ip'],
      description: 'Who is counted. Without a consumer it is the credential, and without that the address.',
    }),
    policy: string({
      default: 'local',
      one_of: ['local', 'cluster', 'redis'],
      description: 'Where it is counted: on each node, in the relational store, or in Redis.',
    }),
    fault_tolerant: boolean({
      required: true,
      default: true,
      description: 'While the counters cannot be reached: true lets requests pass, false answers them with 500.',
    }),
    redis: redisServer(),
    block_on_first_violation: boolean({
      required: true,
      default: false,
      description: 'Refuses requests as soon as one of the limits is used up, whatever they would cost.',
    }),
    hide_client_headers: boolean({
      required: true,
      default: false,
      description: 'Keeps the headers with limits and what is left of them from clients.',
    }),
    limits: map(
      string({ custom: nameProblem, description: 'What is counted; it becomes a part of header names.' }),
      limit,
      { required: true, len_min: 1, description: 'What is counted, by name, and how much of it may be used.' },
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
