import type { StoreReader } from '../store/store.ts';

/** Users that are read; with so many, one of the first is an admin. */
const maxUsers = 1000;

/**
 * Throws `refusal` when there are users and none of them is an admin: nobody could change that through the Admin API. Without any user
 * nobody has to sign in.
 */
export async function requireAnotherAdmin(reader: StoreReader, refusal: (message: string) => Error): Promise<void> {
  const users = await reader.list('admin_users', { limit: maxUsers });
  if (users.length === 0 || users.some(({ role }) => role === 'admin')) return;
  throw refusal('There must be an admin user with the role admin: create one first');
}
