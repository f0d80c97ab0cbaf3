import { boolean, type Infer, number, record, string } from '../../plugin-sdk/schema.ts';

export const config = record({
  anonymous: string({
    description:
      'Id or username of the consumer that requests without a valid login continue as. Unset: they are rejected.',
  }),
  hide_credentials: boolean({
    required: true,
    default: false,
    description: 'Removes the header with user name and password from the request to the backend.',
  }),
  realm: string({
    required: true,
    default: 'service',
    description: 'Realm in the `WWW-Authenticate` header of rejections. Browsers show it to the user.',
  }),
  credentials_file: string({
    description:
      'Path of an htpasswd file. If set, the users are those of the file, not those of consumers. It is read again when it changes. A relative path is relative to the directory where the gateway was started.',
  }),
  consumer_by_username: boolean({
    required: true,
    default: false,
    description: 'A user of the file continues as the consumer with the same username, if there is one.',
  }),
  cache_ttl: number({
    required: true,
    default: 300,
    between: [0, 86400],
    unit: 's',
    description:
      'How long the outcome of a password check, right or wrong, is cached. A change of the password ends it at once. 0: every request is checked.',
  }),
});

export type BasicAuthConfig = Infer<typeof config>;
