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
  ttl,
} from '../../plugin-sdk/schema.ts';
import { hashKey } from './hash-key.ts';

const credentials = defineEntity({
  name: 'keyauth_credentials',
  path: 'key-auths',
  endpointKey: 'key',
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    consumer: foreign('consumers', {
      required: true,
      on_delete: 'cascade',
      description: 'The consumer that the key stands for.',
    }),
    key: string({
      unique: true,
      auto: true,
      encrypted: true,
      description:
        'The key; 32 random letters and digits when it is not given. With the setting `hash_keys` it is shown in the answer to the request that sets it, and never again.',
    }),
    tags: tags(),
    ttl: ttl(),
    key_hash: string({
      computed: true,
      unique: true,
      match: /^[0-9a-f]{64}$/,
      // A key that people chose can be guessed from it.
      encrypted: true,
      description: 'SHA-256 of the key, in hexadecimal digits.',
    }),
    key_prefix: string({
      computed: true,
      len_max: 8,
      description:
        'First characters of a key that is stored hashed, to recognise it by: at most 8, and at most a quarter of it.',
    }),
  }),
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'key-auth' }],
  conceal: concealKey,
});

export const entities = [credentials];

/**
 * Every credential has the hash of its key, so that no key exists twice, stored hashed or not. The setting decides whether
 * the key itself is stored; a hashed key cannot be recovered.
 */
function concealKey(row: Row, { hashKeys, given, before }: ConcealContext): Concealed {
  const key = clearKey(row, given, before);
  if (key === null) {
    const { key_hash: hash, key_prefix: prefix } = before ?? row;
    return { stored: { ...row, key: null, key_hash: hash, key_prefix: prefix ?? null }, shown: {} };
  }
  const hashed = { ...row, key_hash: hashKey(key) };
  if (!hashKeys) return { stored: { ...hashed, key_prefix: null }, shown: {} };
  const isNew = key !== before?.['key'];
  return { stored: { ...hashed, key: null, key_prefix: prefixOf(key) }, shown: isNew ? { key } : {} };
}

/** The key that the row shall have; null when it keeps, or is given, nothing but a hash. */
function clearKey(row: Row, given: ConcealContext['given'], before: Row | null): string | null {
  const key = row['key'] as string;
  const hadKey = typeof before?.['key'] === 'string';
  if (typeof given['key'] === 'string' || (hadKey && key === before['key'])) return key;
  // By now a generated key stands where there is none.
  const hasHash = typeof (before ?? row)['key_hash'] === 'string';
  const wantsNewKey = given['key'] === null && hadKey;
  return hasHash && !wantsNewKey ? null : key;
}

const longestPrefix = 8;

function prefixOf(key: string): string | null {
  const characters = [...key];
  const prefix = characters.slice(0, Math.min(longestPrefix, characters.length >> 2)).join('');
  return prefix === '' ? null : prefix;
}
