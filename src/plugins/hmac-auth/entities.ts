import { credentialFields, defineEntity, record, string, tags } from '../../plugin-sdk/schema.ts';

const credentials = defineEntity({
  name: 'hmacauth_credentials',
  path: 'hmac-auths',
  endpointKey: 'username',
  schema: record({
    ...credentialFields('The consumer that the user authenticates as.'),
    username: string({ required: true, unique: true, description: 'The user name in the signature.' }),
    secret: string({
      auto: true,
      encrypted: true,
      description: 'The secret that signs requests. Default: 32 random letters and digits.',
    }),
    tags: tags(),
  }),
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'hmac-auth' }],
});

export const entities = [credentials];
