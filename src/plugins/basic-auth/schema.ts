import { boolean, type Infer, number, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  anonymous: string({
    description:
      'Id or username of the consumer as which a request without a valid login goes on. Unset: it is refused.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description: 'The backend does not receive the header field with user name and password.',
  }),
  realm: string({
    required: true,
    default: 'service',
    description: 'Realm that the refusal names in `WWW-Authenticate`; browsers show it to the user.',
  }),
  credentials_file: string({
    description:
      'Path of a file in the format of htpasswd. When it is set, the users are those of the file, and not those of consumers. It is read again when it changes. A relative path begins where the gateway was started.',
  }),
  consumer_by_username: boolean({
    required: true,
    default: false,
    description: 'A user of the file goes on as the consumer of the same username, when there is one.',
  }),
  cache_ttl: number({
    required: true,
    default: 300,
    between: [0, 86400],
    unit: 's',
    description:
      'How long a password that was checked is remembered, right or wrong. A change of the password ends it at once. 0: every request is checked.',
  }),
});

export type BasicAuthConfig = Infer<typeof config>;
