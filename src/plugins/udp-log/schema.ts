import { logFields } from '../../plugin-kit/fields/index.ts';
import { host, type Infer, number, port, record } from '../../plugin-sdk/schema.ts';

export const config = record({
  host: host({ required: true, description: 'Host name or IP address of the receiver.' }),
  port: port({ required: true, between: [1, 65_535], description: 'UDP port of the receiver.' }),
  timeout: number({
    default: 10_000,
    unit: 'ms',
    description: 'Accepted for compatibility with Kong and ignored: UDP has nothing to wait for.',
  }),
  ...logFields(),
});

export type UdpLogConfig = Infer<typeof config>;
