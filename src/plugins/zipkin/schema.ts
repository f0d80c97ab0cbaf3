import {
  defaultHeaderTypeField,
  headerTypeField,
  propagationField,
  traceHeaderField,
} from '../../plugin-sdk/propagation/fields.ts';
import {
  array,
  boolean,
  type EntityCheck,
  endpointUrl,
  headerName,
  type Infer,
  integer,
  number,
  queueField,
  record,
  string,
} from '../../plugin-sdk/schema.ts';

/** Tags that the plugin sets itself. */
const ownTags = [
  'error',
  'http.method',
  'http.path',
  'http.status_code',
  'kong.balancer.state',
  'kong.balancer.try',
  'kong.consumer',
  'kong.credential',
  'kong.node.id',
  'kong.route',
  'kong.service',
  'lc',
  'peer.hostname',
];

const tag = record(
  {
    name: string({ required: true, not_one_of: ownTags, len_max: 256, description: 'Name of the tag.' }),
    value: string({ required: true, len_max: 4096, description: 'Its value.' }),
  },
  { description: 'A tag.' },
);

function milliseconds(usual: number, description: string) {
  return integer({ required: true, default: usual, between: [0, 2_147_483_646], unit: 'ms', description });
}

export const config = record({
  local_service_name: string({
    required: true,
    default: 'kong',
    description: 'Name of the gateway as Zipkin shows it.',
  }),
  http_endpoint: endpointUrl({
    referenceable: false,
    description:
      'Whole URL that spans are sent to as JSON: `http://zipkin:9411/api/v2/spans`. Null: headers are passed on, and no span is sent.',
  }),
  sample_ratio: number({
    default: 0.001,
    between: [0, 1],
    description: 'Share of requests that are traced, 0 to 1, where the client does not say whether they are.',
  }),
  default_service_name: string({ description: 'Name of a backend whose service has none.' }),
  include_credential: boolean({
    required: true,
    default: true,
    description: 'Spans tell the id of the credential, in `kong.credential`.',
  }),
  traceid_byte_count: integer({
    required: true,
    default: 16,
    one_of: [8, 16],
    unit: 'bytes',
    description: 'Length of new trace ids.',
  }),
  header_type: headerTypeField(),
  default_header_type: defaultHeaderTypeField(),
  tags_header: headerName({
    required: true,
    default: 'Zipkin-Tags',
    description:
      "Header by which clients add tags to a request's span: `name=value; other=value`. 32 tags at most, names of 128 and values of 1,024 characters; names that the plugin itself uses, and all that begin with `kong.`, are left out.",
  }),
  static_tags: array(tag, { len_max: 64, description: "Tags that every request's span has." }),
  http_span_name: string({
    required: true,
    default: 'method',
    one_of: ['method', 'method_path'],
    description: 'Name of spans: `GET`, or `GET /users/7`.',
  }),
  connect_timeout: milliseconds(2000, 'Until the connection to the receiver is there.'),
  send_timeout: milliseconds(5000, 'Until a message has gone.'),
  read_timeout: milliseconds(5000, 'Until it is answered.'),
  http_response_header_for_traceid: traceHeaderField(),
  phase_duration_flavor: string({
    required: true,
    default: 'annotations',
    one_of: ['annotations', 'tags'],
    description:
      'How phases are told: by annotations at their begin and end (`krs`, `krf`, ...), or by tags with their duration (`kong.access.duration_ms`).',
  }),
  queue: queueField('requests'),
  propagation: propagationField('b3'),
});

export type ZipkinConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [];
