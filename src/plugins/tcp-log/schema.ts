import { logFields, queueField } from '../../plugin-kit/fields/index.ts';
import { boolean, host, type Infer, number, port, record, sni } from '../../plugin-sdk/schema.ts';

export const config = record({
  host: host({ required: true, description: 'Host name or IP address of the receiver.' }),
  port: port({ required: true, between: [1, 65_535], description: 'TCP port of the receiver.' }),
  timeout: number({
    default: 10_000,
    between: [1, 2_147_483_646],
    unit: 'ms',
    description:
      'Timeout of connecting (including TLS), and then the time without progress after which a connection is given up.',
  }),
  keepalive: number({
    default: 60_000,
    between: [0, 2_147_483_646],
    unit: 'ms',
    description: 'Time after which an idle connection is closed. 0: when the receiver closes it.',
  }),
  tls: boolean({ required: true, default: false, description: 'Connects with TLS.' }),
  tls_sni: sni({
    description: 'Server name (SNI) of the TLS handshake; the certificate must be for it. Null: `host`.',
  }),
  tls_verify: boolean({
    required: true,
    default: true,
    description:
      'Verifies the certificate of the receiver, with the authorities of `lua_ssl_trusted_certificate`, or the well-known ones without that setting.',
  }),
  queue: queueField('records', { max_batch_size: 100, max_coalescing_delay: 0.1 }),
  ...logFields(),
});

export type TcpLogConfig = Infer<typeof config>;
