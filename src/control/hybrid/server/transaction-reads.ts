import { createHash } from 'node:crypto';
import type { StoreReader } from '../../store/store.ts';
import type { TransactionRead } from '../protocol/store-calls.ts';

export function performRead(reader: StoreReader, read: TransactionRead): Promise<unknown> {
  if (read.kind === 'count') return reader.count(read.entity);
  if (read.kind === 'list') return reader.list(read.entity, read.query);
  const { entity, field, value } = read;
  return field === 'id' ? reader.get(entity, value) : reader.findBy(entity, field, value);
}

/** Equal for equal answers. */
export function tagOf(answer: unknown): string {
  return createHash('sha256').update(JSON.stringify(answer)).digest('base64');
}
