import type { Row } from '../../shared/entities/entity.ts';
import { text } from '../../shared/entities/row-fields.ts';
import type { StoreReader } from '../store/store.ts';
import type { SignedIn } from './sign-in.ts';

const maxKeys = 100;
/** A key of fewer characters is shown without any of them. */
const shortKey = 16;

/** The keys of the consumer, for recognition: never a whole one. */
export async function ownKeys(reader: StoreReader, { consumer, credential }: SignedIn) {
  const rows = await reader.list('keyauth_credentials', { where: { consumer: consumer.id }, limit: maxKeys });
  return rows.map((row) => ({
    masked: masked(row),
    created_at: Math.floor(row.created_at / 1000),
    expires_at: typeof row['expires_at'] === 'number' ? Math.floor(row['expires_at'] / 1000) : null,
    current: row.id === credential.id,
  }));
}

function masked(row: Row): string {
  const key = text(row, 'key');
  const start = key === null ? text(row, 'key_prefix') : key.length < shortKey ? '' : key.slice(0, 4);
  return `${start ?? ''}…`;
}
