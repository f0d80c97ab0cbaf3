import {
  defaultHeaderTypeField,
  endpointUrl,
  headerTypeField,
  propagationField,
  queueField,
  traceHeaderField,
} from '../../plugin-kit/fields/index.ts';
import type { EntityCheck, Infer } from '../../plugin-sdk/schema.ts';
import { array, boolean, headerName, integer, number, record, string } from '../../plugin-sdk/schema.ts';

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
    value: string({ required: true, len_max: 4096, description: 'Value of the tag.' }),
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
    description: 'Name of the gateway in Zipkin.',
  }),
  http_endpoint: endpointUrl({
    referenceable: false,
    description:
      'Full URL that spans are sent to as JSON: `http://zipkin:9411/api/v2/spans`. Null: trace headers are propagated, and no spans are sent.',
  }),
  sample_ratio: number({
    default: 0.001,
    between: [0, 1],
    description: 'Fraction of requests that are traced, 0 to 1, if the client does not decide.',
  }),
  default_service_name: string({ description: 'Name of backends whose service has no name.' }),
  include_credential: boolean({
    required: true,
    default: true,
    description: 'Adds the id of the credential to spans, as `kong.credential`.',
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
      'Name of the header in which clients send tags for the span of a request: `name=value; other=value`. At most 32 tags, names of 128 and values of 1,024 characters. Names that the plugin itself uses, and names beginning with `kong.`, are ignored.',
  }),
  static_tags: array(tag, { len_max: 64, description: "Tags of every request's span." }),
  http_span_name: string({
    required: true,
    default: 'method',
    one_of: ['method', 'method_path'],
    description: 'Format of span names: `GET`, or `GET /users/7`.',
  }),
  connect_timeout: milliseconds(2000, 'Timeout of connecting to the receiver.'),
  send_timeout: milliseconds(5000, 'Timeout of sending a message.'),
  read_timeout: milliseconds(5000, 'Timeout of waiting for the response.'),
  http_response_header_for_traceid: traceHeaderField(),
  phase_duration_flavor: string({
    required: true,
    default: 'annotations',
    one_of: ['annotations', 'tags'],
    description:
      'How phases are recorded: as annotations at their begin and end (`krs`, `krf`, ...), or as tags with their duration (`kong.access.duration_ms`).',
  }),
  queue: queueField('requests'),
  propagation: propagationField('b3'),
});

export type ZipkinConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [];
