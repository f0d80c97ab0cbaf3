import { texts } from '../../../shared/entities/row-fields.ts';
import type { StoreReader } from '../../store/store.ts';
import type { Caller } from './caller.ts';
import { unauthorized } from './unauthorized.ts';

/**
 * Throws 401 unless the caller still has the rights that it signed in with. A request may take minutes to arrive; its changes must not
 * outlive a revocation. Call it in the transaction.
 */
export async function requireStillSignedIn(reader: StoreReader, caller: Caller): Promise<void> {
  const { userId, tokenId, role, tagPatterns } = caller;
  if (userId === null) return;
  if (tokenId !== null && (await reader.get('admin_tokens', tokenId)) === null) throw unauthorized();
  const user = await reader.get('admin_users', userId);
  const same = user !== null && user['role'] === role && isSame(texts(user, 'tag_patterns') ?? [], tagPatterns);
  if (!same) throw unauthorized();
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
