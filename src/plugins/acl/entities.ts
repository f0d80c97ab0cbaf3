import { credentialFields, defineEntity, record, string, tags } from '../../plugin-sdk/schema.ts';

/** A consumer's membership in a group. */
const acls = defineEntity({
  name: 'acls',
  path: 'acls',
  endpointKey: null,
  schema: record({
    ...credentialFields('The consumer that belongs to the group.'),
    group: string({ required: true, description: 'Name of the group; any text.' }),
    tags: tags(),
  }),
  uniqueTogether: [['consumer', 'group']],
  nestedUnder: [{ entity: 'consumers', field: 'consumer', path: 'acls', key: 'group' }],
});

export const entities = [acls];
