import { type EntityCheck, type Infer, integer, record } from '../../plugin-sdk/schema.ts';

/** One day: for longer operations, set no limit. */
const most = 86_400_000;

export const config = record({
  connect: integer({
    between: [1, most],
    description:
      'Timeout of opening a connection, including TLS, in milliseconds. Default: `connect_timeout` of the service.',
  }),
  send: integer({
    between: [1, most],
    description: 'Timeout between two writes to the backend, in milliseconds. Default: `write_timeout` of the service.',
  }),
  first_byte: integer({
    between: [1, most],
    description:
      'Timeout from the end of the request to the first byte of the response, in milliseconds. Default: `read_timeout` of the service.',
  }),
  idle: integer({
    between: [1, most],
    description:
      'Timeout between two reads of the response or a WebSocket, in milliseconds. Default: `read_timeout` of the service.',
  }),
  total: integer({
    between: [1, most],
    description:
      'Timeout from the arrival of the request to the end of the response, over all attempts, in milliseconds. Default: no limit.',
  }),
});

export type TimeoutsConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { at_least_one_of: ['config.connect', 'config.send', 'config.first_byte', 'config.idle', 'config.total'] },
];
