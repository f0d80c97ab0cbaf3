import { autoId, createdAt, ttl } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

/**
 * Health that was set by hand on one node, for the other nodes of the same database. It has no path in the Admin API
 * and expires soon: every node follows the changes of the store, and then keeps the health itself. All fields are
 * strings, so that the change contains them.
 */
export const healthMarks = defineEntity({
  name: 'health_marks',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    node: string({ required: true, description: 'The node on which it was set.' }),
    upstream: string({ required: true, description: 'Id of the upstream.' }),
    target: string({ required: true, description: 'Id of the target.' }),
    address: string({ description: 'One address of the target. Unset: all.' }),
    health: string({ required: true, one_of: ['healthy', 'unhealthy'], description: 'What was set.' }),
    ttl: ttl(),
  }),
});
