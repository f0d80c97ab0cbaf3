import { setImmediate as nextTurn } from 'node:timers/promises';
import type { EntityDefinition, Row } from '../../../../shared/entities/entity.ts';
import type { StoreReader } from '../../../store/store.ts';
import { matchTexts, type TextMatch } from './search-text.ts';
import { searchedFields, textsOf } from './searched-fields.ts';

export interface SearchLimits {
  /** Rows in the answer. */
  readonly size: number;
  /** Rows that are read at most. */
  readonly maxRows: number;
  /** Milliseconds after which no more rows are read. */
  readonly timeout: number;
}

export interface FoundRow {
  readonly definition: EntityDefinition;
  readonly row: Row;
  readonly match: TextMatch;
}

export interface SearchResult {
  /** Best first; among equals in the order of the entities, then of creation. */
  readonly found: readonly FoundRow[];
  readonly read: number;
  /** False: a limit was reached before the last row. */
  readonly complete: boolean;
}

/** Rows that are read and compared in one turn of the event loop: about a millisecond. */
const batch = 250;

/** Reads the rows of these entities, and keeps those that fit best. */
export async function searchRows(
  reader: StoreReader,
  definitions: readonly EntityDefinition[],
  words: readonly string[],
  { size, maxRows, timeout }: SearchLimits,
): Promise<SearchResult> {
  const end = performance.now() + timeout;
  const found: FoundRow[] = [];
  let read = 0;
  for (const definition of definitions) {
    const fields = searchedFields(definition);
    let after: { readonly createdAt: number; readonly id: string } | undefined;
    for (;;) {
      if (read >= maxRows || performance.now() > end) return { found, read, complete: false };
      const rows = await reader.list(definition.name, { ...(after === undefined ? {} : { after }), limit: batch });
      read += rows.length;
      for (const row of rows) {
        const match = matchTexts(textsOf(fields, row), words);
        if (match !== null) keep(found, { definition, row, match }, size);
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < batch) break;
      after = { createdAt: last.created_at, id: last.id };
      // SQLite reads synchronously, and other requests must not wait for a large table.
      await nextTurn();
    }
  }
  return { found, read, complete: true };
}

/** Inserts the row at its place, and drops the last one of too many. */
function keep(found: FoundRow[], row: FoundRow, size: number): void {
  const at = found.findIndex(({ match }) => match.rank > row.match.rank);
  if (at < 0 && found.length >= size) return;
  found.splice(at < 0 ? found.length : at, 0, row);
  if (found.length > size) found.pop();
}
