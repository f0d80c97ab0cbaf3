import { autoId, createdAt, tags, updatedAt } from '../schema/common-fields.ts';
import { string } from '../schema/fields.ts';
import { record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

const schema = record(
  {
    id: autoId(),
    created_at: createdAt(),
    updated_at: updatedAt(),
    username: string({ unique: true, description: 'Unique name of the consumer.' }),
    custom_id: string({ unique: true, description: 'Unique identifier of the consumer in another system.' }),
    tags: tags(),
  },
  { checks: [{ at_least_one_of: ['custom_id', 'username'] }] },
);

export const consumers = defineEntity({ name: 'consumers', path: 'consumers', endpointKey: 'username', schema });
