import {
  autoId,
  type ConcealContext,
  type Concealed,
  createdAt,
  defineEntity,
  foreign,
  type Row,
  record,
  string,
  tags,
} from '../../plugin-sdk/schema.ts';
import { longestPart } from './basic-credentials.ts';
import { isUnmistakableHash } from './password-hash.ts';
import { scryptHash } from './scrypt-hash.ts';

const credentials = defineEntity({
  name: 'basicauth_credentials',
  path: 'basic-auths',
  endpointKey: 'username',
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    consumer: foreign('consumers', {
      required: true,
      on_delete: 'cascade',
      description: 'The consumer that the user is.',
    }),
    username: string({ required: true, unique: true, description: 'The name that the user logs in with.' }),
    password: string({
      required: true,
      encrypted: true,
      custom: passwordProblem,
      description:
        'The password. It is stored and shown as a hash (scrypt). A complete hash (bcrypt, scrypt, `$apr1$`, `$1$`, `$5$`, `$6$`, `{SHA}`, `{SSHA}`, `$kong-sha1$`) is taken as it is.',
    }),
    tags: tags(),
  }),
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'basic-auth' }],
  conceal: concealPassword,
});

export const entities = [credentials];

function passwordProblem(password: string): string | null {
  return Buffer.byteLength(password) > longestPart ? `must have at most ${longestPart} bytes` : null;
}

/** What is a hash already stays as it is: one that was stored before and comes back with a change, or one taken over. */
async function concealPassword(row: Row, { before }: ConcealContext): Promise<Concealed> {
  const password = row['password'] as string;
  if (password === before?.['password'] || isUnmistakableHash(password)) return { stored: row, shown: {} };
  return { stored: { ...row, password: await scryptHash(password, before?.['password']) }, shown: {} };
}
