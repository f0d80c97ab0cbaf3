import type { EntityDefinition, NestedUnder, Row } from '../../../shared/entities/entity.ts';
import type { StoreReader } from '../../store/store.ts';
import { type AdminRequest, type Answer, noContent, ok } from '../http/admin-route.ts';
import { notFound } from '../http/http-error.ts';
import type { AdminContext } from './admin-context.ts';
import { removeEntity, segmentOf } from './entity-handlers.ts';
import { findEntity, idOf, needEntity, referenceOf } from './find-entity.ts';
import { listEntities } from './list-entities.ts';
import { showEntity } from './show-entity.ts';
import { insertEntity, patchEntity, putEntity, putTarget, readInput } from './write-entity.ts';

/** An entity below the path of the one that it refers to: `/services/{services}/routes/{routes}`. */
export interface Nesting {
  readonly child: EntityDefinition;
  readonly parent: EntityDefinition;
  readonly place: NestedUnder;
}

export async function listNested(context: AdminContext, nesting: Nesting, request: AdminRequest): Promise<Answer> {
  const parent = await needParent(context, context.store, nesting, request);
  return listEntities(context, nesting.child, request, { parent: { field: nesting.place.field, id: parent.id } });
}

export async function createNested(context: AdminContext, nesting: Nesting, request: AdminRequest): Promise<Answer> {
  const { child, place } = nesting;
  const json = await context.commit(request, async (writer) => {
    const parent = await needParent(context, writer, nesting, request);
    const input = { ...readInput(child, request.body), [place.field]: { id: parent.id } };
    return insertEntity(context, writer, child, input);
  });
  return { status: 201, json };
}

export async function readNested(context: AdminContext, nesting: Nesting, request: AdminRequest): Promise<Answer> {
  const row = await needChild(context, context.store, nesting, request);
  return ok(await showEntity(context, context.store, nesting.child, row));
}

/** Creates or replaces; an entity of that id that belongs to another parent moves here. */
export async function replaceNested(context: AdminContext, nesting: Nesting, request: AdminRequest): Promise<Answer> {
  const { child, place } = nesting;
  const segment = segmentOf(request, child);
  const json = await context.commit(request, async (writer) => {
    const parent = await needParent(context, writer, nesting, request);
    const existing = await findChild(context, writer, nesting, parent, segment);
    const named = place.key === undefined || idOf(segment) !== null ? {} : { [place.key]: segment };
    const given = readInput(child, request.body, existing ?? undefined);
    const input = { ...given, ...named, [place.field]: { id: parent.id } };
    return putEntity(context, writer, child, putTarget(segment), existing, input);
  });
  return ok(json);
}

export async function updateNested(context: AdminContext, nesting: Nesting, request: AdminRequest): Promise<Answer> {
  const { child } = nesting;
  const json = await context.commit(request, async (writer) => {
    const stored = await needChild(context, writer, nesting, request);
    return patchEntity(context, writer, child, stored, readInput(child, request.body, stored));
  });
  return ok(json);
}

export async function deleteNested(context: AdminContext, nesting: Nesting, request: AdminRequest): Promise<Answer> {
  await context.commit(request, async (writer) => {
    const row = await needChild(context, writer, nesting, request);
    await removeEntity(context, writer, nesting.child, row);
  });
  return noContent;
}

async function findChild(
  context: AdminContext,
  reader: StoreReader,
  { child, place }: Nesting,
  parent: Row,
  segment: string,
): Promise<Row | null> {
  if (place.key === undefined || idOf(segment) !== null) return findEntity(context, reader, child, segment);
  const where = { [place.field]: parent.id, [place.key]: segment };
  return (await reader.list(child.name, { where, limit: 1 }))[0] ?? null;
}

function needParent(context: AdminContext, reader: StoreReader, nesting: Nesting, request: AdminRequest): Promise<Row> {
  return needEntity(context, reader, nesting.parent, segmentOf(request, nesting.parent));
}

async function needChild(
  context: AdminContext,
  reader: StoreReader,
  nesting: Nesting,
  request: AdminRequest,
): Promise<Row> {
  const parent = await needParent(context, reader, nesting, request);
  const row = await findChild(context, reader, nesting, parent, segmentOf(request, nesting.child));
  if (row === null) throw notFound();
  if (referenceOf(row, nesting.place.field) !== parent.id) throw notFound();
  return row;
}
