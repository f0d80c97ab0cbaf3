import { defineEntity } from '../../../shared/entities/define-entity.ts';
import { autoId, createdAt } from '../../../shared/schema/common-fields.ts';
import { string } from '../../../shared/schema/fields.ts';
import { record } from '../../../shared/schema/record.ts';
import type { StoreReader, StoreWriter } from '../../store/store.ts';

/** Which document a node without a database has loaded: one row, written in the transaction that loads the document. */
export const loadedConfigs = defineEntity({
  name: 'loaded_configs',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    hash: string({ required: true, description: 'Hash of the document, see `DeclarativeConfig.hash`.' }),
  }),
});

const id = '00000000-0000-4000-8000-000000000001';

/** Null: no document was loaded. */
export async function readLoadedHash(reader: StoreReader): Promise<string | null> {
  const row = await reader.get(loadedConfigs.name, id);
  return typeof row?.['hash'] === 'string' ? row['hash'] : null;
}

export async function writeLoadedHash(writer: StoreWriter, hash: string): Promise<void> {
  const row = await writer.get(loadedConfigs.name, id);
  if (row === null) await writer.insert(loadedConfigs.name, { id, created_at: writer.now, hash });
  else if (row['hash'] !== hash) await writer.update(loadedConfigs.name, { ...row, hash });
}
