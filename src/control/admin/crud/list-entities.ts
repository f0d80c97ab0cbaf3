import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { AdminRequest, Answer } from '../http/admin-route.ts';
import { ok } from '../http/admin-route.ts';
import type { Direction } from '../lists/cursor-token.ts';
import { type ListSource, readListPage } from '../lists/list-page.ts';
import { readListRequest } from '../lists/list-request.ts';
import { readTagsFilter } from '../lists/tags-filter.ts';
import type { AdminContext } from './admin-context.ts';
import { referenceOf } from './find-entity.ts';
import { showEntities } from './show-entity.ts';

/** The parent whose path contains the list. */
export interface Parent {
  readonly field: string;
  readonly id: string;
}

export interface ListOptions {
  readonly parent?: Parent;
  readonly kongDirection?: Direction;
  /** Shows the rows in a different form than that of their entity. */
  readonly show?: (rows: readonly Row[]) => Promise<readonly unknown[]>;
}

/** One page of a collection. Only top-level lists filter by tags, as in Kong. */
export async function listEntities(
  context: AdminContext,
  definition: EntityDefinition,
  request: AdminRequest,
  options: ListOptions = {},
): Promise<Answer> {
  const { parent } = options;
  const listRequest = readListRequest(request.query);
  const tags = parent === undefined ? readTagsFilter(request.query) : undefined;
  const filter = {
    ...(parent === undefined ? {} : { where: { [parent.field]: parent.id } }),
    ...(tags === undefined ? {} : { tags }),
  };
  const source: ListSource<Row> = {
    kongDirection: options.kongDirection ?? 'asc',
    read: (query) => context.store.list(definition.name, { ...filter, ...query }),
    position: (row) => ({ createdAt: row.created_at, id: row.id }),
    present: options.show ?? ((rows) => showEntities(context, context.store, definition, rows)),
    async find(id) {
      const row = await context.store.get(definition.name, id);
      if (row === null || (parent !== undefined && referenceOf(row, parent.field) !== parent.id)) return null;
      return { createdAt: row.created_at, id: row.id };
    },
  };
  const links = {
    path: request.path,
    tags: tags === undefined ? undefined : request.query.first('tags'),
    nested: parent !== undefined,
  };
  return ok(await readListPage(source, listRequest, links));
}
