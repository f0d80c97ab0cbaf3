import type { AdminContext } from '../crud/admin-context.ts';
import { list } from '../crud/entity-routes.ts';
import { listEntities } from '../crud/list-entities.ts';
import { showEntities } from '../crud/show-entity.ts';
import { type AdminRequest, type Answer, type Operation, ok } from '../http/admin-route.ts';
import { plainError } from '../http/http-error.ts';

/** `GET /consumers?custom_id=x` is a lookup; without that parameter it is the usual list. */
export function consumersList(context: AdminContext): Operation {
  return {
    access: 'read',
    handle: (request) => listConsumers(context, request),
    notes: {
      ...list('consumers'),
      queryParameters: [
        {
          name: 'custom_id',
          description: 'Only the consumer with this custom_id',
          schema: { type: 'string', minLength: 1 },
        },
      ],
    },
  };
}

async function listConsumers(context: AdminContext, request: AdminRequest): Promise<Answer> {
  const consumers = context.entity('consumers');
  const customId = request.query.first('custom_id');
  if (customId === undefined) return listEntities(context, consumers, request);
  if (customId === '') throw plainError(400, 'custom_id must be an unempty string');
  const row = await context.store.findBy('consumers', 'custom_id', customId);
  const data = row === null ? [] : await showEntities(context, context.store, consumers, [row]);
  return ok({ data, next: null, nextCursor: null });
}
