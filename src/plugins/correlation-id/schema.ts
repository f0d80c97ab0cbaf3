import { boolean, headerName, type Infer, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  header_name: headerName({
    default: 'Kong-Request-ID',
    description: 'Name of the header.',
  }),
  generator: string({
    required: true,
    default: 'uuid#counter',
    one_of: ['uuid', 'uuid#counter', 'tracker'],
    description:
      'Format of generated ids. `uuid`: a random UUID. `uuid#counter`: a UUID of the worker, `#`, and a counter. `tracker`: address and port of the listener, process id, connection, request on it, and the time.',
  }),
  echo_downstream: boolean({
    required: true,
    default: false,
    description: 'Sends the header to the client, too.',
  }),
});

export type CorrelationIdConfig = Infer<typeof config>;
