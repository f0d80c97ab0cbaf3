import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { EntityRegistry } from '../../../shared/entities/registry.ts';
import type { RowChange } from '../../store/audit.ts';
import type { StoreWriter } from '../../store/store.ts';
import { iterateRows } from '../lists/iterate-rows.ts';
import type { Caller } from './caller.ts';
import { changeProblem, named, owns, type ProposedChange } from './change-rules.ts';
import { forbidden } from './forbidden.ts';
import { changedNames, findNamed, findNaming, foreignIds, namesIn } from './named-references.ts';

/** A writer for a caller that may not write everything. */
export interface GuardedWriter {
  readonly writer: StoreWriter;
  /** The last step of the transaction: rejects with 403 if it has changed anything that the caller may not change. */
  verify(): Promise<void>;
}

/**
 * Checks what a transaction has changed rather than what a request asks for, so that no path, foreign key or nested field is forgotten.
 * Only rows that are deleted by on-delete rules must be read before.
 */
export function guardWrites(writer: StoreWriter, caller: Caller, entities: EntityRegistry): GuardedWriter {
  if (caller.role === 'admin') return { writer, verify: async () => {} };
  /** Ids of rows that were deleted with everything that depends on them. */
  const checkedRoots = new Set<string>();

  const guarded: StoreWriter = {
    ...writer,
    async delete(entity, id) {
      const before = await writer.get(entity, id);
      if (before === null) return false;
      refuse(caller, changeProblem(caller, { entity, before, after: null }));
      await checkCascade(writer, caller, entities, { entity, id });
      checkedRoots.add(id);
      return writer.delete(entity, id);
    },
  };

  async function verifyChange(change: RowChange): Promise<void> {
    // Nobody can see an expired row, and it is deleted soon in any case.
    if (change.cause === 'expired') return;
    if (change.cause === 'cascade') {
      if (!checkedRoots.has(change.root)) throw forbidden(caller, `a deletion of ${change.entity} cannot be checked`);
      return;
    }
    refuse(caller, changeProblem(caller, change));
    await checkReferences(writer, caller, entities, change);
  }

  return {
    writer: guarded,
    async verify() {
      for (const change of writer.changes) await verifyChange(change);
    },
  };
}

/** Everything that the store would delete with a row must be the caller's, too. */
async function checkCascade(
  reader: StoreWriter,
  caller: Caller,
  entities: EntityRegistry,
  { entity, id }: { readonly entity: string; readonly id: string },
  visited: Set<string> = new Set(),
): Promise<void> {
  if (visited.has(id)) return;
  visited.add(id);
  for (const [child, field] of cascadesFrom(entities, entity)) {
    for await (const row of iterateRows(reader, child.name, { where: { [field]: id } })) {
      const problem = changeProblem(caller, { entity: child.name, before: row, after: null });
      refuse(caller, problem === null ? null : `it would delete ${named(child.name, row)}: ${problem}`);
      await checkCascade(reader, caller, entities, { entity: child.name, id: row.id }, visited);
    }
  }
}

function cascadesFrom(
  { definitions }: EntityRegistry,
  entity: string,
): readonly (readonly [child: EntityDefinition, field: string])[] {
  return definitions.flatMap((child) =>
    Object.entries(child.foreign)
      .filter(([, foreign]) => foreign.entity === entity && foreign.onDelete === 'cascade')
      .map(([field]) => [child, field] as const),
  );
}

/**
 * What the row refers to must be the caller's, and so must be everything that refers to the row by name: otherwise a route could bypass
 * the plugins of others, and a new upstream could receive the traffic of a service whose host has its name. Rejects with 403.
 */
export async function checkReferences(
  reader: StoreWriter,
  caller: Caller,
  entities: EntityRegistry,
  { entity, before, after }: ProposedChange,
): Promise<void> {
  if (caller.role === 'admin') return;
  const referred: (readonly [entity: string, row: Row | null])[] = [];
  if (after !== null) {
    const foreign = Object.entries(entities.byName(entity)?.foreign ?? {});
    const fields = foreign.map(([field]) => field);
    const old = foreignIds(before, fields);
    for (const [index, id] of foreignIds(after, fields).entries()) {
      const target = foreign[index]?.[1].entity;
      if (id === null || id === old[index] || target === undefined) continue;
      referred.push([target, await reader.get(target, id)]);
    }
    const known = new Set(before === null ? [] : namesIn(entity, before).map(({ name }) => name));
    for (const reference of namesIn(entity, after)) {
      if (reference.uses && !known.has(reference.name))
        referred.push([reference.entity, await findNamed(reader, reference)]);
    }
  }
  for (const [target, row] of referred) {
    if (row !== null && !owns(caller, row)) {
      throw forbidden(caller, `it refers to ${named(target, row)}, which has no tag that matches`);
    }
  }
  const names = changedNames(entity, before, after);
  if (names.length === 0) return;
  const other = await findNaming(reader, entity, names, (row) => owns(caller, row));
  if (other !== null) throw forbidden(caller, `${named(other.entity, other.row)} refers to that name`);
}

function refuse(caller: Caller, problem: string | null): void {
  if (problem !== null) throw forbidden(caller, problem);
}
