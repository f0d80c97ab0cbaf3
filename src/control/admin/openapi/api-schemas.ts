import type { JsonObject } from './json-object.ts';

const text = { type: 'string' };
const textOrNull = { type: ['string', 'null'] };

/** The body of `POST /apis/import`. */
const importSchema: JsonObject = {
  type: 'object',
  required: ['document'],
  additionalProperties: false,
  properties: {
    document: { ...text, minLength: 1, maxLength: 1_048_576, description: 'OpenAPI 3.0 or 3.1, JSON or YAML.' },
    name: { ...textOrNull, maxLength: 256, description: 'Name of the service. Default: the title of the document.' },
    api: { ...textOrNull, maxLength: 256, description: 'Name of the API. Default: the name of the service.' },
    server: {
      ...textOrNull,
      maxLength: 2048,
      description: 'A number (from 1) of a server of the document, or a URL. Default: the first server.',
    },
    route_prefix: { ...textOrNull, maxLength: 128, description: 'Prefix of the names of routes.' },
    tags: { type: ['array', 'null'], items: text, description: 'Tags of all that is created.' },
    validate: {
      type: ['boolean', 'null'],
      description: 'Add the plugin `openapi` with the document to the service. Default: false.',
    },
  },
};

const importResultSchema: JsonObject = {
  type: 'object',
  required: ['dry_run', 'api', 'created', 'updated', 'unchanged', 'changes', 'warnings'],
  properties: {
    dry_run: { type: 'boolean' },
    api: { type: 'object' },
    created: { type: 'integer' },
    updated: { type: 'integer' },
    unchanged: { type: 'integer' },
    changes: {
      type: 'array',
      items: {
        type: 'object',
        required: ['operation', 'entity', 'id', 'name', 'route', 'place', 'fields', 'changed'],
        properties: {
          operation: { type: 'string', enum: ['create', 'update', 'unchanged'] },
          entity: { type: 'string', enum: ['services', 'routes', 'plugins', 'apis'] },
          id: text,
          name: text,
          route: { ...textOrNull, description: 'Of a plugin: name of its route; null: the service has it.' },
          place: { ...text, description: 'Place in the document, a JSON pointer.' },
          fields: { type: 'object', description: 'What the document sets.' },
          changed: { type: 'array', items: text, description: 'Fields that an update changes.' },
        },
      },
    },
    warnings: {
      type: 'array',
      items: { type: 'object', required: ['place', 'message'], properties: { place: text, message: text } },
      description: 'What the import leaves out.',
    },
  },
};

const referenceSchema: JsonObject = {
  type: 'object',
  required: ['api', 'title', 'version', 'description', 'tags', 'operations', 'schemas', 'demands'],
  properties: {
    api: { type: 'object', description: 'Id, name and service of the API.' },
    title: textOrNull,
    version: textOrNull,
    description: textOrNull,
    tags: { type: 'array', items: { type: 'object' } },
    operations: {
      type: 'array',
      description: 'Each with its route, and the position of its `demands`.',
      items: { type: 'object', required: ['method', 'path', 'route', 'demands'] },
    },
    schemas: { type: 'array', description: 'Pairs of a reference and the schema that it means.' },
    demands: {
      type: 'array',
      description: 'Authentication and limits.',
      items: { type: 'object', required: ['auth', 'needs', 'optional', 'groups', 'limits'] },
    },
  },
};

/** What `/apis/...` reads and shows, in addition to the entity. */
export const apiSchemas: Readonly<Record<string, JsonObject>> = {
  api_import: importSchema,
  api_import_result: importResultSchema,
  api_reference: referenceSchema,
};
