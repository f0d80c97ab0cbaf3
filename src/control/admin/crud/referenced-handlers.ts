import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import type { StoreReader } from '../../store/store.ts';
import { type AdminRequest, type Answer, ok } from '../http/admin-route.ts';
import { methodNotAllowed, notFound } from '../http/http-error.ts';
import type { AdminContext } from './admin-context.ts';
import { segmentOf } from './entity-handlers.ts';
import { needEntity, referenceOf } from './find-entity.ts';
import { showEntity } from './show-entity.ts';
import { insertEntity, patchEntity, putEntity, readInput } from './write-entity.ts';

/** The entity that another one refers to, below the path of that one: `/routes/{routes}/service`. */
export interface Referenced {
  readonly owner: EntityDefinition;
  readonly field: string;
  readonly entity: EntityDefinition;
}

export async function readReferenced(context: AdminContext, place: Referenced, request: AdminRequest): Promise<Answer> {
  const row = await needReferenced(context, context.store, place, request);
  return ok(await showEntity(context, context.store, place.entity, row));
}

/** Replaces the referenced entity; creates it and sets the reference when there is none. */
export async function replaceReferenced(
  context: AdminContext,
  place: Referenced,
  request: AdminRequest,
): Promise<Answer> {
  const { owner, field, entity } = place;
  const input = readInput(entity, request.body);
  const json = await context.commit(request, async (writer) => {
    const row = await needEntity(context, writer, owner, segmentOf(request, owner));
    const id = referenceOf(row, field);
    if (id !== null) return putEntity(context, writer, entity, { id }, await writer.get(entity.name, id), input);
    const created = await insertEntity(context, writer, entity, input);
    await patchEntity(context, writer, owner, row, { [field]: { id: created['id'] } });
    return created;
  });
  return ok(json);
}

export async function updateReferenced(
  context: AdminContext,
  place: Referenced,
  request: AdminRequest,
): Promise<Answer> {
  const { entity } = place;
  const json = await context.commit(request, async (writer) => {
    const stored = await needReferenced(context, writer, place, request);
    return patchEntity(context, writer, entity, stored, readInput(entity, request.body, stored));
  });
  return ok(json);
}

/** Kong lists DELETE among the methods, and refuses it. */
export async function deleteReferenced(
  context: AdminContext,
  place: Referenced,
  request: AdminRequest,
): Promise<Answer> {
  await needReferenced(context, context.store, place, request);
  throw methodNotAllowed('GET, HEAD, OPTIONS, PATCH, PUT');
}

async function needReferenced(
  context: AdminContext,
  reader: StoreReader,
  place: Referenced,
  request: AdminRequest,
): Promise<Row> {
  const owner = await needEntity(context, reader, place.owner, segmentOf(request, place.owner));
  const id = referenceOf(owner, place.field);
  const row = id === null ? null : await reader.get(place.entity.name, id);
  if (row === null) throw notFound();
  return row;
}
