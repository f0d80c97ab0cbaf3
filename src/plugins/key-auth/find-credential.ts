import type { EntityAccess, EntityRow } from '../../plugin-sdk/index.ts';
import { hashKey } from './hash-key.ts';

const entity = 'keyauth_credentials';

type Found = EntityRow | null | Promise<EntityRow | null>;

/**
 * The credential of a key. Credentials may be stored either way, whatever the setting is now; it says which way is more
 * likely. What a client shows is hashed before it is compared with a hash, so that a stolen hash is no key.
 */
export function credentialFinder(entities: EntityAccess, hashKeys: boolean): (key: string) => Found {
  const byKey = (key: string): Found => entities.find(entity, 'key', key);
  const byHash = (key: string): Found => entities.find(entity, 'key_hash', hashKey(key));
  const [first, second] = hashKeys ? [byHash, byKey] : [byKey, byHash];
  return (key) => {
    const found = first(key);
    if (found instanceof Promise) return found.then((row) => row ?? second(key));
    return found ?? second(key);
  };
}
