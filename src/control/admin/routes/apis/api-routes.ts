import type { Row } from '../../../../shared/entities/entity.ts';
import type { ReferenceCache } from '../../../apis/reference/reference-cache.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { list } from '../../crud/entity-routes.ts';
import { listEntities } from '../../crud/list-entities.ts';
import { showEntities } from '../../crud/show-entity.ts';
import type { AdminRoute, Operation } from '../../http/admin-route.ts';
import { importApiRoute } from './import-api.ts';
import { referenceRoute } from './reference-route.ts';

/** `/apis/...` beyond the operations that every entity has. `writes`: the context in which config is written. */
export function apiRoutes(
  context: AdminContext,
  writes: AdminContext,
  references: ReferenceCache,
): readonly AdminRoute[] {
  return [importApiRoute(writes), referenceRoute(context, references)];
}

/** `GET /apis`: without the documents, which can have a megabyte each. */
export function apisList(context: AdminContext): Operation {
  const definition = context.entity('apis');
  const show = async (rows: readonly Row[]): Promise<readonly unknown[]> => {
    const shown = await showEntities(context, context.store, definition, rows);
    return shown.map(({ document: _, ...rest }) => rest);
  };
  return {
    access: 'read',
    handle: (request) => listEntities(context, definition, request, { show }),
    notes: { ...list('apis'), summary: 'List apis, without their documents' },
  };
}
