import { logFields, queueField } from '../../plugin-kit/fields/index.ts';
import { host, type Infer, integer, port, record, string } from '../../plugin-sdk/schema.ts';
import { type FacilityName, facilities, type SeverityName, severities } from './codes.ts';

// Kong's order is from the least severe on.
const severityNames = (Object.keys(severities) as SeverityName[]).toReversed();
const facilityNames = Object.keys(facilities) as FacilityName[];

function severity(description: string) {
  return string({ required: true, default: 'info', one_of: severityNames, description });
}

export const config = record({
  log_level: severity('Minimum severity. Records of a lower severity are not sent.'),
  successful_severity: severity('Severity of responses with a status below 400.'),
  client_errors_severity: severity('Severity of responses with a status from 400 to 499.'),
  server_errors_severity: severity('Severity of responses with a status of 500 and more.'),
  facility: string({
    required: true,
    default: 'user',
    one_of: facilityNames,
    description: 'Facility of the messages.',
  }),
  protocol: string({
    required: true,
    default: 'local',
    one_of: ['local', 'udp', 'tcp', 'tls'],
    description:
      '`local`: the daemon of this machine, over a Unix stream socket. The others: `host` and `port`, RFC 5424. With `tls` the certificate of the receiver must be for `host`.',
  }),
  host: host({
    required: true,
    default: 'localhost',
    description: 'Host name or IP address of the receiver. Not for `local`.',
  }),
  port: port({
    required: true,
    default: 514,
    between: [1, 65_535],
    description: 'Port of the receiver. Not for `local`.',
  }),
  socket_path: string({
    starts_with: '/',
    len_max: 107,
    description:
      'Path of the socket for `local`. Null: `/dev/log`, or that of the journal if `/dev/log` accepts no streams.',
  }),
  max_size: integer({
    required: true,
    default: 8192,
    between: [480, 65_507],
    unit: 'bytes',
    description:
      'Maximum size of a message; longer ones are cut. Do not exceed the limit of the receiver: many make a second message of the rest, which a client could forge.',
  }),
  queue: queueField('records', { max_batch_size: 100, max_coalescing_delay: 0.1 }),
  ...logFields(),
});

export type SyslogConfig = Infer<typeof config>;
