import type { EntityDefinition } from '../../entities/entity.ts';
import type { AdminRoute, Method, Operation } from '../http/admin-route.ts';
import { entitySchemas } from './entity-schemas.ts';
import { errorResponses, errorSchemas, responseRef } from './error-responses.ts';
import { listParameterRefs, listParameters } from './list-parameters.ts';

export type JsonObject = { readonly [name: string]: unknown };

export interface OpenApiSource {
  readonly routes: readonly AdminRoute[];
  readonly entities: readonly EntityDefinition[];
  readonly version: string;
}

const bodyTypes = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** OpenAPI 3.1 of the Admin API, from the route table and the schemas of the entities. */
export function buildOpenApi({ routes, entities, version }: OpenApiSource): JsonObject {
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) paths[route.path] = pathItem(route);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Sluicegate Admin API',
      version,
      description:
        'Configures the gateway. Every path answers OPTIONS with the methods that it has, and HEAD wherever it answers GET.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({ name })),
    security: [{}, { bearer: [] }, { adminToken: [] }],
    paths,
    components: {
      schemas: { ...entitySchemas(entities), ...errorSchemas },
      parameters: listParameters,
      responses: errorResponses,
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer' },
        adminToken: { type: 'apiKey', in: 'header', name: 'Kong-Admin-Token' },
      },
    },
  };
}

function pathItem(route: AdminRoute): JsonObject {
  const item: Record<string, unknown> = {};
  const names = [...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
  if (names.length > 0) item['parameters'] = names.map(pathParameter);
  for (const [method, operation] of Object.entries(route.operations) as [Method, Operation][]) {
    item[method.toLowerCase()] = describeOperation(route, method, operation);
  }
  return item;
}

function pathParameter(name: string): JsonObject {
  const description = `Id or name (${name}).`;
  return { name, in: 'path', required: true, description, schema: { type: 'string' } };
}

function describeOperation(route: AdminRoute, method: Method, { notes }: Operation): JsonObject {
  const parameters = [
    ...(notes.answer === 'list' ? listParameterRefs(route.path) : []),
    ...(notes.queryParameters ?? []).map(({ name, description }) => {
      return { name, in: 'query', description, schema: { type: 'string' } };
    }),
  ];
  return {
    operationId: operationId(method, route.path),
    summary: notes.summary,
    tags: [route.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(notes.takesBody === true && { requestBody: requestBody(method, notes.entity) }),
    responses: { ...success(notes), ...failures(route, method, notes) },
  };
}

function operationId(method: Method, path: string): string {
  const words = path.replace(/[{}]/g, '').split(/[^A-Za-z0-9_]+/);
  return [method.toLowerCase(), ...words.filter((word) => word !== '')].join('-');
}

function requestBody(method: Method, entity: string | undefined): JsonObject {
  const name = method === 'PATCH' ? `${entity}_change` : entity;
  const schema = entity === undefined ? { type: 'object' } : { $ref: `#/components/schemas/${name}` };
  return { required: method !== 'PATCH', content: Object.fromEntries(bodyTypes.map((type) => [type, { schema }])) };
}

function success(notes: Operation['notes']): JsonObject {
  const status = String(notes.status ?? 200);
  if (notes.answer === 'none') return { [status]: { description: 'Done; the answer is empty.' } };
  const isText = notes.answer === 'text';
  const content: Record<string, JsonObject> = isText
    ? { 'text/plain': { schema: { type: 'string' } } }
    : { 'application/json': { schema: answerSchema(notes) } };
  for (const type of notes.otherTypes ?? []) content[type] = { schema: { type: 'string' } };
  return { [status]: { description: notes.summary, content } };
}

function answerSchema(notes: Operation['notes']): JsonObject {
  if (notes.answer === 'object' || notes.entity === undefined) return { type: 'object' };
  return { $ref: `#/components/schemas/${notes.entity}${notes.answer === 'list' ? '_list' : ''}` };
}

function failures(route: AdminRoute, method: Method, notes: Operation['notes']): JsonObject {
  const statuses = new Set(['401', '403', '500']);
  if (notes.takesBody === true) for (const status of ['400', '413', '415']) statuses.add(status);
  if (notes.answer === 'list' || notes.queryParameters !== undefined || method === 'DELETE') statuses.add('400');
  if (route.path.includes('{')) for (const status of ['400', '404']) statuses.add(status);
  if (notes.takesBody === true && notes.entity !== undefined) statuses.add('409');
  statuses.delete(String(notes.status ?? 200));
  return Object.fromEntries([...statuses].sort().map((status) => [status, responseRef(status)]));
}
