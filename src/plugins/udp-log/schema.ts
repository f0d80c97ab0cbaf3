import { host, type Infer, logFields, number, port, record } from '../../plugin-sdk/schema.ts';

export const config = record({
  host: host({ required: true, description: 'Name or address of the receiver.' }),
  port: port({ required: true, between: [1, 65_535], description: 'Its UDP port.' }),
  timeout: number({
    default: 10_000,
    unit: 'ms',
    description:
      'Accepted for the sake of configurations made for Kong, and without effect: UDP has nothing to wait for.',
  }),
  ...logFields(),
});

export type UdpLogConfig = Infer<typeof config>;
