import { createPublicKey } from 'node:crypto';
import type { EntityCheck } from '../../plugin-sdk/schema.ts';
import { credentialFields, defineEntity, record, string, tags } from '../../plugin-sdk/schema.ts';
import { algorithmNames, algorithmOf } from './algorithms.ts';

function needsKey(algorithm: string): EntityCheck {
  return {
    conditional: {
      if_field: 'algorithm',
      if_match: { eq: algorithm },
      then_field: 'rsa_public_key',
      then_match: { required: true },
    },
  };
}

const usableKey = {
  field_sources: ['algorithm', 'rsa_public_key'],
  fn: ({ algorithm, rsa_public_key: key }: Readonly<Record<string, unknown>>) =>
    // Kong checks the key only where the algorithm uses it.
    typeof key === 'string' && !isUsable(key, algorithm) ? { rsa_public_key: 'invalid key' } : null,
};

const secrets = defineEntity({
  name: 'jwt_secrets',
  path: 'jwts',
  endpointKey: 'key',
  schema: record(
    {
      ...credentialFields('The consumer that tokens of this credential belong to.'),
      key: string({
        unique: true,
        auto: true,
        description: 'The value of the claim `key_claim_name` in tokens. Default: 32 random letters and digits.',
      }),
      secret: string({
        auto: true,
        encrypted: true,
        description: 'Secret of tokens signed with HS256, HS384 or HS512. Default: a random one.',
      }),
      rsa_public_key: string({
        description: 'Public key in PEM format: RSA, EC or Ed25519/Ed448, as the algorithm needs.',
      }),
      algorithm: string({
        default: 'HS256',
        one_of: algorithmNames,
        description: 'The only algorithm that tokens of this credential may be signed with, whatever the tokens say.',
      }),
      tags: tags(),
    },
    {
      checks: [
        ...algorithmNames.filter((name) => !name.startsWith('HS')).map(needsKey),
        { custom_entity_check: usableKey },
      ],
    },
  ),
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'jwt' }],
});

export const entities = [secrets];

function isUsable(pem: string, algorithm: unknown): boolean {
  const known = algorithmOf(algorithm);
  if (known === null || known.symmetric) return true;
  try {
    return known.takes(createPublicKey(pem));
  } catch {
    return false;
  }
}
