import type { Row } from '../../../shared/entities/entity.ts';
import type { ListQuery, StoreReader } from '../../store/store.ts';

/** Default number of rows that are read at once. */
const defaultBatch = 500;

/** Every row in the order of `(created_at, id)`, read in batches. */
export async function* iterateRows(
  reader: StoreReader,
  entity: string,
  query: Omit<ListQuery, 'limit' | 'skip'> = {},
  batchSize: number = defaultBatch,
): AsyncGenerator<Row> {
  let { after } = query;
  for (;;) {
    const rows = await reader.list(entity, {
      ...query,
      ...(after === undefined ? {} : { after }),
      limit: batchSize,
    });
    yield* rows;
    const last = rows.at(-1);
    if (last === undefined || rows.length < batchSize) return;
    after = { createdAt: last.created_at, id: last.id };
  }
}
