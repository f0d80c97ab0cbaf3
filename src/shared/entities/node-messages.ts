import { autoId, createdAt, ttl } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

/**
 * Messages of a plugin on one node to the same plugin on all other nodes (`tools.broadcast`). It has no path in the Admin API and
 * expires: every node follows the changes of the store, and takes each message from there once. All fields are strings, so that
 * the change contains them.
 */
export const nodeMessages = defineEntity({
  name: 'node_messages',
  inConfig: false,
  path: null,
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    sender: string({ required: true, description: 'The process that sent it, which does not receive it.' }),
    plugin: string({ required: true, description: 'Name of the plugin.' }),
    text: string({ required: true, description: 'The message, as JSON.' }),
    ttl: ttl(),
  }),
});
