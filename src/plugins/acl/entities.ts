import { autoId, createdAt, defineEntity, foreign, record, string, tags } from '../../plugin-sdk/schema.ts';

/** A consumer's membership in a group. */
const acls = defineEntity({
  name: 'acls',
  path: 'acls',
  endpointKey: null,
  schema: record({
    id: autoId(),
    created_at: createdAt(),
    consumer: foreign('consumers', {
      required: true,
      on_delete: 'cascade',
      description: 'The consumer that is in the group.',
    }),
    group: string({ required: true, description: 'Name of the group; any text.' }),
    tags: tags(),
  }),
  uniqueTogether: [['consumer', 'group']],
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'acls', key: 'group' }],
});

export const entities = [acls];
