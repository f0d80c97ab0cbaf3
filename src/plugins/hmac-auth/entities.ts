import { autoId, createdAt, defineEntity, foreign, record, string, tags } from '../../plugin-sdk/schema.ts';

const credentials = defineEntity({
  name: 'hmacauth_credentials',
  path: 'hmac-auths',
  endpointKey: 'username',
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    consumer: foreign('consumers', {
      required: true,
      on_delete: 'cascade',
      description: 'The consumer that the user is.',
    }),
    username: string({ required: true, unique: true, description: 'The name that a request says it is signed by.' }),
    secret: string({
      auto: true,
      encrypted: true,
      description: 'What requests are signed with; 32 random letters and digits when it is not given.',
    }),
    tags: tags(),
  }),
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'hmac-auth' }],
});

export const entities = [credentials];
