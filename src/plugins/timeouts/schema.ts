import { type EntityCheck, type Infer, integer, record } from '../../plugin-sdk/schema.ts';

/** A day: what is meant to last longer is better left without a limit. */
const most = 86_400_000;

export const config = record({
  connect: integer({
    between: [1, most],
    description: 'Milliseconds to open a connection, TLS included. Without it `connect_timeout` of the service.',
  }),
  send: integer({
    between: [1, most],
    description: 'Milliseconds between two writes to the backend. Without it `write_timeout` of the service.',
  }),
  first_byte: integer({
    between: [1, most],
    description:
      'Milliseconds from the end of the request to the first byte of the answer. Without it `read_timeout` of the service.',
  }),
  idle: integer({
    between: [1, most],
    description:
      'Milliseconds between two reads of the answer, or of a WebSocket. Without it `read_timeout` of the service.',
  }),
  total: integer({
    between: [1, most],
    description:
      'Milliseconds from the arrival of the request to the end of the answer, over all attempts. Without it there is no limit.',
  }),
});

export type TimeoutsConfig = Infer<typeof config>;

export const checks: readonly EntityCheck[] = [
  { at_least_one_of: ['config.connect', 'config.send', 'config.first_byte', 'config.idle', 'config.total'] },
];
