import {
  array,
  boolean,
  cookieName,
  type EntityCheck,
  entityName,
  headerName,
  type Infer,
  integer,
  record,
  string,
} from '../../plugin-sdk/schema.ts';

const backend = record(
  {
    name: entityName({
      required: true,
      description: 'How this part of the traffic is called: in the log, in `force_header`, in `show_header`.',
    }),
    weight: integer({
      required: true,
      default: 1,
      between: [0, 65_535],
      description: 'Share of the traffic: this weight over the sum of all.',
    }),
    service: string({
      len_min: 1,
      description:
        "Name or id of the service that gets it, with its own address, path and times. Null: the route's own.",
    }),
    upstream: string({
      len_min: 1,
      description: "Name of the upstream whose targets get it; all else stays as the route's service has it.",
    }),
  },
  { description: 'A part of the traffic, and where it goes.' },
);

export const config = record({
  backends: array(backend, {
    required: true,
    len_min: 1,
    len_max: 32,
    description: 'The parts. Put those that are to grow first: who is in them stays in them as their weights grow.',
  }),
  sticky_by: string({
    required: true,
    default: 'none',
    one_of: ['none', 'consumer', 'ip', 'header', 'cookie'],
    description:
      'What keeps a client in one part: who it is, its address, the value of a header, or a cookie that is given to it. Without that thing a request goes by chance.',
  }),
  header_name: headerName({ description: 'The header of `sticky_by` `header`.' }),
  cookie_name: cookieName({
    required: true,
    default: 'traffic_split',
    description: 'The cookie of `sticky_by` `cookie`. It holds a random number and nothing about the client.',
  }),
  cookie_max_age: integer({
    required: true,
    default: 0,
    between: [0, 31_536_000],
    description: 'Seconds for which browsers keep the cookie; 0: until they are closed.',
  }),
  force_header: headerName({
    description:
      'A request with this header goes to the part that its value names, for tests. Null: there is no such way.',
  }),
  show_header: boolean({
    required: true,
    default: false,
    description: 'The answer names the part in `X-Traffic-Split`.',
  }),
});

export type TrafficSplitConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  {
    conditional: {
      if_field: 'config.sticky_by',
      if_match: { eq: 'header' },
      then_field: 'config.header_name',
      then_match: { required: true },
    },
  },
];
