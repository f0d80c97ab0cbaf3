import { autoId, createdAt, ttl } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

/**
 * Health that was set by hand on one node, on its way to the others of the same database. It has no path in the Admin API
 * and soon expires: every node follows the changes of the store, and then keeps health by itself. All fields are texts, so
 * that they are told with the change.
 */
export const healthMarks = defineEntity({
  name: 'health_marks',
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    node: string({ required: true, description: 'The node on which it was set.' }),
    upstream: string({ required: true, description: 'Id of the upstream.' }),
    target: string({ required: true, description: 'Id of the target.' }),
    address: string({ description: 'One of its addresses; unset: all.' }),
    health: string({ required: true, one_of: ['healthy', 'unhealthy'], description: 'What was set.' }),
    ttl: ttl(),
  }),
});
