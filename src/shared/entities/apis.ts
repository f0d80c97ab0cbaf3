import { autoId, createdAt, entityName, tags, updatedAt } from '../schema/common-fields.ts';
import { boolean, string } from '../schema/fields.ts';
import { foreign, record } from '../schema/record.ts';
import { defineEntity } from './define-entity.ts';

/** Maximum characters of a stored document. */
export const maxApiDocument = 1_048_576;

const schema = record({
  id: autoId(),
  created_at: createdAt(),
  updated_at: updatedAt(),
  name: entityName({
    required: true,
    len_max: 256,
    not_one_of: ['import'],
    description: 'Name of the API. Default of an import: that of its service.',
  }),
  service: foreign('services', {
    required: true,
    on_delete: 'cascade',
    description: 'Service whose routes carry the requests of the API.',
  }),
  title: string({ len_max: 1024, description: 'Title for readers.' }),
  version: string({ len_max: 256, description: 'Version of the API, as its document states it.' }),
  document: string({
    len_max: maxApiDocument,
    description:
      'OpenAPI document (3.0 or 3.1), JSON or YAML. It is read when the reference is shown. Lists leave it out.',
  }),
  portal: boolean({
    required: true,
    default: true,
    description: 'Consumers that may call the API see it in the portal.',
  }),
  tags: tags(),
});

/** The document of an API, for its reference. The data plane does not use it. */
export const apis = defineEntity({
  name: 'apis',
  path: 'apis',
  endpointKey: 'name',
  schema,
  nestedUnder: [{ entity: 'services', field: 'service', path: 'apis' }],
});
