import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { Store, StoreWriter } from '../../store/store.ts';
import type { Commit, CommitResult, TransactionWrite } from '../protocol/store-calls.ts';
import { unavailable } from '../protocol/wire-errors.ts';
import type { DataPlaneRights } from './data-plane-rights.ts';
import { performRead, tagOf } from './transaction-reads.ts';

/** What the data plane has read is no longer so. */
const conflict = Symbol('conflict');

export interface CommitContext {
  readonly store: Store;
  readonly rights: DataPlaneRights;
  /** Throws a `TypeError` when a data plane must not read the entity. */
  readonly readable: (entity: string) => EntityDefinition;
  readonly writable: (entity: string) => EntityDefinition;
  /** Milliseconds of the transaction, after which it is rolled back. */
  readonly maxTime: number;
}

/** Repeats what a data plane has read and then does what it has written, in one transaction; or nothing. */
export async function commitWrites(context: CommitContext, { reads, writes }: Commit): Promise<CommitResult> {
  for (const { read } of reads) context.readable(read.entity);
  for (const { entity } of writes) context.writable(entity);
  try {
    const { result, version } = await context.store.write(async (writer) => {
      const end = performance.now() + context.maxTime;
      for (const { read, tag } of reads) {
        inTime(end);
        if (tagOf(await performRead(writer, read)) !== tag) throw conflict;
      }
      const rows: (Row | null)[] = [];
      for (const write of writes) {
        inTime(end);
        rows.push(await perform(context, writer, write));
      }
      return rows;
    });
    return { kind: 'committed', version, rows: result };
  } catch (error) {
    if (error === conflict) return { kind: 'conflict' };
    throw error;
  }
}

function inTime(end: number): void {
  if (performance.now() > end) throw unavailable('the transaction takes too long');
}

async function perform(
  { rights, writable }: CommitContext,
  writer: StoreWriter,
  write: TransactionWrite,
): Promise<Row | null> {
  const definition = writable(write.entity);
  if (write.kind === 'delete') {
    if (rights.of(definition).write !== 'any') {
      throw new TypeError(`a data plane must not delete ${write.entity}`);
    }
    if ((await writer.delete(write.entity, write.id)) !== write.found) throw conflict;
    return null;
  }
  const before = write.kind === 'update' ? await writer.get(write.entity, write.row.id) : null;
  const row = rights.admitted(definition, write.row, before);
  return write.kind === 'insert'
    ? writer.insert(write.entity, row, { keepCreatedAt: write.keepCreatedAt })
    : writer.update(write.entity, row, { renewCreatedAt: write.renewCreatedAt });
}
