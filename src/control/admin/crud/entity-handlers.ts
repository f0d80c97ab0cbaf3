import type { EntityDefinition, Row } from '../../../shared/entities/entity.ts';
import { notFoundByField, notFoundByKey } from '../../../shared/schema/errors.ts';
import type { StoreWriter } from '../../store/store.ts';
import { kongError } from '../errors.ts';
import { type AdminRequest, type Answer, noContent, ok } from '../http/admin-route.ts';
import { type HttpError, notFound } from '../http/http-error.ts';
import type { AdminContext } from './admin-context.ts';
import { findEntity, idOf, needEntity } from './find-entity.ts';
import { showEntity } from './show-entity.ts';
import { insertEntity, patchEntity, putEntity, putTarget, readInput } from './write-entity.ts';

/** The path segment of that entity. */
export function segmentOf(request: AdminRequest, definition: EntityDefinition): string {
  return request.params[definition.name] ?? '';
}

export async function createHandler(
  context: AdminContext,
  definition: EntityDefinition,
  request: AdminRequest,
): Promise<Answer> {
  const input = readInput(definition, request.body);
  const json = await context.commit(request, (writer) => insertEntity(context, writer, definition, input));
  return { status: 201, json };
}

export async function readHandler(
  context: AdminContext,
  definition: EntityDefinition,
  request: AdminRequest,
): Promise<Answer> {
  const row = await needEntity(context, context.store, definition, segmentOf(request, definition));
  return ok(await showEntity(context, context.store, definition, row));
}

export async function replaceHandler(
  context: AdminContext,
  definition: EntityDefinition,
  request: AdminRequest,
): Promise<Answer> {
  const segment = segmentOf(request, definition);
  const input = readInput(definition, request.body);
  const json = await context.commit(request, async (writer) => {
    const existing = await findEntity(context, writer, definition, segment);
    return putEntity(context, writer, definition, putTarget(segment), existing, input);
  });
  return ok(json);
}

export async function updateHandler(
  context: AdminContext,
  definition: EntityDefinition,
  request: AdminRequest,
): Promise<Answer> {
  const segment = segmentOf(request, definition);
  const json = await context.commit(request, async (writer) => {
    const stored = await findEntity(context, writer, definition, segment);
    if (stored === null) throw missing(definition, segment);
    return patchEntity(context, writer, definition, stored, readInput(definition, request.body, stored));
  });
  return ok(json);
}

export async function deleteHandler(
  context: AdminContext,
  definition: EntityDefinition,
  request: AdminRequest,
): Promise<Answer> {
  const segment = segmentOf(request, definition);
  // Deleting a missing entity changes nothing, so it need not wait for other writers.
  if ((await findEntity(context, context.store, definition, segment)) === null) {
    request.trail.settled = true;
    return noContent;
  }
  await context.commit(request, async (writer) => {
    const row = await findEntity(context, writer, definition, segment);
    if (row !== null) await removeEntity(context, writer, definition, row);
  });
  return noContent;
}

export async function removeEntity(
  context: AdminContext,
  writer: StoreWriter,
  definition: EntityDefinition,
  row: Row,
): Promise<void> {
  await context.extras(definition.name).beforeDelete?.(writer, row);
  await definition.beforeDelete?.(row, writer);
  await writer.delete(definition.name, row.id);
}

/** Kong reads a plugin first to learn its name, and so answers with a plain 404. */
function missing(definition: EntityDefinition, segment: string): HttpError {
  if (definition.name === 'plugins') return notFound();
  const id = idOf(segment);
  if (id !== null || definition.endpointKey === null) return kongError(notFoundByKey({ id: id ?? segment }));
  return kongError(notFoundByField({ [definition.endpointKey]: segment }));
}
