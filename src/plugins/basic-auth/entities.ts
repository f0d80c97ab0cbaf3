import type { ConcealContext, Concealed, Row } from '../../plugin-sdk/schema.ts';
import { credentialFields, defineEntity, record, string, tags } from '../../plugin-sdk/schema.ts';
import { maxPartSize } from './basic-credentials.ts';
import { isUnmistakableHash } from './password-hash.ts';
import { scryptHash } from './scrypt-hash.ts';

const credentials = defineEntity({
  name: 'basicauth_credentials',
  path: 'basic-auths',
  endpointKey: 'username',
  schema: record({
    ...credentialFields('The consumer that the user logs in as.'),
    username: string({ required: true, unique: true, description: 'The user name.' }),
    password: string({
      required: true,
      encrypted: true,
      custom: passwordProblem,
      description:
        'The password. It is stored and shown as a scrypt hash. A complete hash (bcrypt, scrypt, `$apr1$`, `$1$`, `$5$`, `$6$`, `{SHA}`, `{SSHA}`, `$kong-sha1$`) is stored unchanged.',
    }),
    tags: tags(),
  }),
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'basic-auth' }],
  conceal: concealPassword,
});

export const entities = [credentials];

function passwordProblem(password: string): string | null {
  return Buffer.byteLength(password) > maxPartSize ? `must have at most ${maxPartSize} bytes` : null;
}

/** An existing hash stays unchanged: one that was stored before and comes back with a change, or an imported one. */
async function concealPassword(row: Row, { before }: ConcealContext): Promise<Concealed> {
  const password = row['password'] as string;
  if (password === before?.['password'] || isUnmistakableHash(password)) return { stored: row, shown: {} };
  return { stored: { ...row, password: await scryptHash(password, before?.['password']) }, shown: {} };
}
