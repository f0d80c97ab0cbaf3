import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import type { PluginCatalog } from '../../../shared/entities/plugin-catalog.ts';
import { pluginSchema } from '../../../shared/entities/plugins.ts';
import { validateInput } from '../../../shared/entities/rows.ts';
import { type ExportedSchema, exportSchema } from '../../../shared/schema/export/export.ts';
import { string } from '../../../shared/schema/fields.ts';
import { record } from '../../../shared/schema/record.ts';
import type { AdminContext } from '../crud/admin-context.ts';
import { invalidInput } from '../errors.ts';
import { type AdminRequest, type AdminRoute, type Answer, type OperationNotes, ok } from '../http/admin-route.ts';
import { type HttpError, plainError } from '../http/http-error.ts';
import { schemaListRoute } from './schema-list.ts';

/** `/schemas/...`: the fields of entities and plugins, and a check whether a body would be accepted. */
export function schemaRoutes(context: AdminContext, catalog: PluginCatalog): readonly AdminRoute[] {
  return [
    schemaListRoute(context, catalog),
    reading('/schemas/{name}', (name) => entitySchema(context, name)),
    reading('/schemas/plugins/{name}', (name) => schemaOfPlugin(catalog, name)),
    reading('/schemas/vaults/{name}', (name) => {
      throw missing(`No vault named '${name}'`);
    }),
    reading('/schemas/filters/{name}', (name) => {
      throw missing(`Filter '${name}' not found`);
    }),
    validating('/schemas/{name}/validate', (request) => validate(context, request.params['name'] ?? '', request)),
    validating('/schemas/plugins/validate', (request) => validate(context, 'plugins', request)),
    validating('/schemas/vaults/validate', (request) => validate(context, 'vaults', request)),
  ];
}

function reading(path: string, read: (name: string) => ExportedSchema): AdminRoute {
  const notes: OperationNotes = { summary: 'Schema, its fields in order', answer: 'object' };
  const handle = (request: AdminRequest): Answer => ok(read(request.params['name'] ?? ''));
  return { path, tag: 'schemas', operations: { GET: { access: 'read', handle, notes } } };
}

function validating(path: string, handle: (request: AdminRequest) => Answer): AdminRoute {
  const notes: OperationNotes = {
    summary: 'Check a body without storing it',
    answer: 'object',
    takesBody: true,
    otherStatuses: [404],
  };
  return { path, tag: 'schemas', operations: { POST: { access: 'edit', handle, notes, readOnly: true } } };
}

/** Tags are no entity of their own, but have a schema. */
const tagSchema = record({
  tag: string({ required: true, description: 'The tag.' }),
  entity_name: string({ required: true, description: 'Schema name of the tagged entity.' }),
  entity_id: string({ required: true, description: 'Id of the tagged entity.' }),
});

function entitySchema(context: AdminContext, name: string): ExportedSchema {
  if (name === 'tags') return exportSchema(tagSchema);
  return exportSchema(needDefinition(context, name).schema);
}

function schemaOfPlugin(catalog: PluginCatalog, name: string): ExportedSchema {
  const plugin = catalog.describe(name);
  if (plugin === null) throw missing(`No plugin named '${name}'`);
  return exportSchema(pluginSchema(plugin));
}

/** Only checks the schema: neither uniqueness nor the existence of referenced entities. */
function validate(context: AdminContext, name: string, request: AdminRequest): Answer {
  const definition = needDefinition(context, name);
  // The values of a form are not converted here, as in Kong.
  const result = validateInput(definition, request.body.value);
  if (!result.ok) throw invalidInput(result.error.fields);
  return ok({ message: 'schema validation successful' });
}

function needDefinition(context: AdminContext, name: string): EntityDefinition {
  const definition = context.entities.byName(name);
  if (definition === undefined) throw missing(`No entity named '${name}'`);
  return definition;
}

function missing(message: string): HttpError {
  return plainError(404, message);
}
