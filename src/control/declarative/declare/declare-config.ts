/*
 * A document becomes rows in these steps:
 *
 * 1. collect-entries.ts finds the entities, at every level.
 * 2. For each kind of entity, what is referred to first: references become ids (resolve-references.ts); each entity gets its id and the
 *    row that it replaces (assign-ids.ts); its row is built as a PUT of the Admin API builds it (build-row.ts).
 * 3. Rules over several entities (check-unique.ts, check-together.ts).
 */

import type { Row } from '../../../shared/entities/entity.ts';
import type { ErrorTree } from '../../../shared/schema/validate.ts';
import type { ConfigDocument, ConfigProblem, DeclaredConfig, DeclareOptions } from '../contract.ts';
import { assignIds, type Duplicate } from './assign-ids.ts';
import { buildRow, type RowContext } from './build-row.ts';
import { findMisfits } from './check-together.ts';
import { findDuplicates } from './check-unique.ts';
import { type Collected, collectEntries } from './collect-entries.ts';
import { createCurrentRows } from './current-rows.ts';
import { type Entry, problemOf } from './entry.ts';
import { nestingOf } from './nesting.ts';
import { createPace } from './pace.ts';
import { createDeclaredIndex, resolveReferences, type UnresolvedFields } from './resolve-references.ts';

/** Rows that are built at the same time: some wait for a hash, which takes 40 ms in another thread. */
const maxPending = 16;

/**
 * The rows that a document declares, and what is wrong with it. Never rejects because of the document. Lets other work run every 10 ms.
 * A row that is the same as the current one is that object itself.
 */
export async function declareConfig(document: ConfigDocument, options: DeclareOptions): Promise<DeclaredConfig> {
  const { entities, hashKeys, now, current } = options;
  const pace = createPace();
  const nesting = nestingOf(entities);
  const { entries, problems } = await collectEntries(document, nesting, pace);
  const context: RowContext = { now, hashKeys, transform: document.content['_transform'] !== false };
  const index = createDeclaredIndex();

  for (const definition of nesting.definitions) {
    const list = entries.get(definition.name) ?? [];
    const before = await createCurrentRows(definition, current[definition.name] ?? [], pace);
    const unresolved = new Map<Entry, UnresolvedFields>();
    for (const entry of list) {
      const wait = pace();
      if (wait !== null) await wait;
      const found = resolveReferences(entry, index, document.deck === true);
      if (found !== null) unresolved.set(entry, found);
    }
    const repeated = await assignIds(definition, list, before, pace);
    let pending: Promise<void>[] = [];
    for (const entry of list) {
      const errors = buildRow(entry, before, context);
      if (errors instanceof Promise) pending.push(errors.then((found) => finish(entry, found)));
      else finish(entry, errors);
      if (pending.length === maxPending) {
        await Promise.all(pending);
        pending = [];
      }
      const wait = pace();
      if (wait !== null) await wait;
    }
    await Promise.all(pending);
    reportDuplicates(repeated, await findDuplicates(definition, list, pace));
    await index.add(definition.name, list, pace);

    function finish(entry: Entry, errors: ErrorTree | null): void {
      const found = unresolved.get(entry);
      const wrong: ErrorTree | null = found === undefined ? errors : { ...errors, ...found.wrong };
      if (wrong !== null && Object.keys(wrong).length > 0) fail(entry, 'schema', wrong);
      if (found !== undefined && Object.keys(found.missing).length > 0) fail(entry, 'reference', found.missing);
      if (entry.failed) entry.row = null;
    }
  }
  for (const { entry, errors } of await findMisfits(entries, current, pace)) fail(entry, 'schema', errors);
  return { hash: document.hash, rows: rowsOf(entries), problems };

  function fail(entry: Entry, kind: NonNullable<ConfigProblem['kind']>, errors: ErrorTree): void {
    entry.failed = true;
    entry.row = null;
    problems.push(problemOf(document, entry, kind, errors));
  }

  /** One message for an entry: something else that is wrong with it may be why it looks like another. */
  function reportDuplicates(...lists: readonly (readonly Duplicate[])[]): void {
    for (const { entry, message } of lists.flat()) {
      if (!entry.failed) fail(entry, 'uniqueness', { '@entity': [message] });
    }
  }
}

function rowsOf(entries: Collected['entries']): Readonly<Record<string, readonly Row[]>> {
  const rows: Record<string, readonly Row[]> = {};
  for (const [name, list] of entries) rows[name] = list.flatMap(({ row }) => row ?? []);
  return rows;
}
