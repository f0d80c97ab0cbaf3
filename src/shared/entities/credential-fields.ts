import { autoId, createdAt } from '../schema/common-fields.ts';
import { foreign } from '../schema/record.ts';

/**
 * The first fields of an entity that belongs to a consumer: `id`, `created_at` and a required `consumer`, with which
 * the row is deleted. `description`: of the field `consumer`.
 */
export function credentialFields(description: string) {
  return {
    id: autoId(),
    created_at: createdAt(),
    consumer: foreign('consumers', { required: true, on_delete: 'cascade', description }),
  };
}
