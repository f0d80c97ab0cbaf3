import type { EntityAccess, EntityRow } from '../../plugin-sdk/index.ts';
import { hashKey } from './hash-key.ts';

const entity = 'keyauth_credentials';

type Found = EntityRow | null | Promise<EntityRow | null>;

/**
 * The credential of a key. Keys may be stored hashed or not, whatever the current setting; it decides which is tried first.
 * The client's key is hashed before it is compared with a hash, so that a stolen hash is useless.
 */
export function credentialFinder(entities: EntityAccess, hashKeys: boolean): (key: string, client: string) => Found {
  const byKey = (key: string, client: string): Found => entities.find(entity, 'key', key, client);
  const byHash = (key: string, client: string): Found => entities.find(entity, 'key_hash', hashKey(key), client);
  const [first, second] = hashKeys ? [byHash, byKey] : [byKey, byHash];
  return (key, client) => {
    const found = first(key, client);
    if (found instanceof Promise) return found.then((row) => row ?? second(key, client));
    return found ?? second(key, client);
  };
}
