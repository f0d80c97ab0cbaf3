import { StoreError } from '../store.ts';
import type { PlainQuery } from './plain-query.ts';
import type { ColumnRow, StoreHead } from './sql-backend.ts';

export async function readHead({ run }: PlainQuery): Promise<StoreHead> {
  const [row] = await run('select * from "store_version"');
  if (row === undefined) throw new Error('the store has no head');
  return toHead(row);
}

/** The row of `store_version`. */
export function toHead(row: ColumnRow): StoreHead {
  const { identity, stamp } = row;
  if (typeof identity !== 'string' || typeof stamp !== 'string') throw earlierLayout();
  return {
    store: identity,
    version: Number(row['version']),
    stamp,
    lastTimestamp: Number(row['last_timestamp']),
  };
}

/** A migration has run since this process was started, so the layout can only have come from a backup. */
function earlierLayout(): StoreError {
  return new StoreError(
    { kind: 'unavailable' },
    { message: 'the store was restored from a backup of an earlier version: restart a node, which upgrades it' },
  );
}
