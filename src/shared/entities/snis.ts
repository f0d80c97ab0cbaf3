import { autoId, createdAt, tags, updatedAt, wildcardHost } from '../schema/common-fields.ts';
import { foreign, record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

const schema = record({
  id: autoId(),
  name: wildcardHost({
    required: true,
    unique: true,
    description: 'TLS server name; the first or the last character may be `*`.',
  }),
  created_at: createdAt(),
  updated_at: updatedAt(),
  tags: tags(),
  certificate: foreign('certificates', {
    required: true,
    on_delete: 'cascade',
    description: 'Certificate shown for this name.',
  }),
});

export const snis = defineEntity({
  name: 'snis',
  path: 'snis',
  endpointKey: 'name',
  schema,
  nestedUnder: [{ entity: 'certificates', field: 'certificate', path: 'snis' }],
});
