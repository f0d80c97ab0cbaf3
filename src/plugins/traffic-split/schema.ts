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
      description: 'Name of the part in the log, in `force_header` and in `show_header`.',
    }),
    weight: integer({
      required: true,
      default: 1,
      between: [0, 65_535],
      description: 'Weight of the part: its share is this weight divided by the sum of all.',
    }),
    service: string({
      len_min: 1,
      description:
        "Name or id of the service of this part, with its own address, path and timeouts. Null: the route's own.",
    }),
    upstream: string({
      len_min: 1,
      description: "Name of the upstream of this part. Everything else stays as in the route's service.",
    }),
  },
  { description: 'A part of the traffic, and where it goes.' },
);

export const config = record({
  backends: array(backend, {
    required: true,
    len_min: 1,
    len_max: 32,
    description:
      'The parts of the traffic. Put those that will grow first: they keep their clients as their weights grow.',
  }),
  sticky_by: string({
    required: true,
    default: 'none',
    one_of: ['none', 'consumer', 'ip', 'header', 'cookie'],
    description:
      'What keeps a client in one part: its consumer, its address, the value of a header, or a cookie that the gateway sets. A request without it is assigned at random.',
  }),
  header_name: headerName({ description: 'Name of the header for `sticky_by` `header`.' }),
  cookie_name: cookieName({
    required: true,
    default: 'traffic_split',
    description: 'Name of the cookie for `sticky_by` `cookie`. It holds a random number and nothing about the client.',
  }),
  cookie_max_age: integer({
    required: true,
    default: 0,
    between: [0, 31_536_000],
    description: 'Time in seconds that browsers keep the cookie. 0: until they are closed.',
  }),
  force_header: headerName({
    description: 'Header that names the part of a request, for tests. Null: none.',
  }),
  show_header: boolean({
    required: true,
    default: false,
    description: 'Adds the header `X-Traffic-Split` with the part to responses.',
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
