import { foreignId, text } from '../../../../shared/entities/row-fields.ts';
import { describeApi, readPlace, readPlugins } from '../../../apis/describe-api.ts';
import type { ReferenceCache } from '../../../apis/reference/reference-cache.ts';
import type { AdminContext } from '../../crud/admin-context.ts';
import { segmentOf } from '../../crud/entity-handlers.ts';
import { needEntity } from '../../crud/find-entity.ts';
import { type AdminRequest, type AdminRoute, type Answer, ok } from '../../http/admin-route.ts';
import { plainError } from '../../http/http-error.ts';

/** `GET /apis/{apis}/reference`: the document as readers need it, with what the gateway demands. */
export function referenceRoute(context: AdminContext, references: ReferenceCache): AdminRoute {
  return {
    path: '/apis/{apis}/reference',
    tag: 'apis',
    operations: {
      GET: {
        access: 'read',
        handle: (request) => shownReference(context, references, request),
        notes: {
          summary: 'The operations of an API, with the authentication and the limits of the gateway',
          answer: 'entity',
          entity: 'api_reference',
          otherStatuses: [422],
        },
      },
    },
  };
}

async function shownReference(
  context: AdminContext,
  references: ReferenceCache,
  request: AdminRequest,
): Promise<Answer> {
  const definition = context.entity('apis');
  const api = await needEntity(context, context.store, definition, segmentOf(request, definition));
  const document = text(api, 'document');
  if (document === null) throw plainError(422, 'the API has no document');
  const built = await references.of(document);
  if (!built.ok) throw plainError(422, `the document of the API cannot be shown: ${built.message}`);
  const place = await readPlace(context.store, api);
  const surroundings = { ...place, plugins: await readPlugins(context.store) };
  const { service } = surroundings;
  return ok({
    api: {
      id: api.id,
      name: text(api, 'name'),
      tags: api['tags'] ?? null,
      portal: api['portal'] !== false,
      service: { id: foreignId(api, 'service'), name: service === null ? null : text(service, 'name') },
    },
    ...describeApi(built.reference, surroundings, null),
  });
}
