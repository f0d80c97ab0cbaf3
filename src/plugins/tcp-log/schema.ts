import {
  boolean,
  host,
  type Infer,
  logFields,
  number,
  port,
  queueField,
  record,
  sni,
} from '../../plugin-sdk/schema.ts';

export const config = record({
  host: host({ required: true, description: 'Name or address of the receiver.' }),
  port: port({ required: true, between: [1, 65_535], description: 'Its TCP port.' }),
  timeout: number({
    default: 10_000,
    between: [1, 2_147_483_646],
    unit: 'ms',
    description:
      'Milliseconds until the connection is there, TLS included, and then without the receiver taking anything.',
  }),
  keepalive: number({
    default: 60_000,
    between: [0, 2_147_483_646],
    unit: 'ms',
    description: 'Milliseconds after which an idle connection is closed; 0: when the receiver closes it.',
  }),
  tls: boolean({ required: true, default: false, description: 'Sends over TLS.' }),
  tls_sni: sni({ description: 'Server name for TLS, which the certificate has to be for. Null: `host`.' }),
  tls_verify: boolean({
    required: true,
    default: true,
    description:
      'The receiver has to show a certificate for its name by an authority of `lua_ssl_trusted_certificate`, or by a well-known one without that setting.',
  }),
  queue: queueField('records', { max_batch_size: 100, max_coalescing_delay: 0.1 }),
  ...logFields(),
});

export type TcpLogConfig = Infer<typeof config>;
