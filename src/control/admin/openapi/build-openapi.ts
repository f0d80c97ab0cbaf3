import type { EntityDefinition } from '../../../shared/entities/entity.ts';
import type { AdminRoute, Method, Operation } from '../http/admin-route.ts';
import { entitySchemas } from './entity-schemas.ts';
import { errorResponses, errorSchemas, responseRef } from './error-responses.ts';
import type { JsonObject } from './json-object.ts';
import { listParameterRefs, listParameters } from './list-parameters.ts';

export interface OpenApiSource {
  readonly routes: readonly AdminRoute[];
  readonly entities: readonly EntityDefinition[];
  readonly version: string;
}

const bodyTypes = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'];

/** OpenAPI 3.1 of the Admin API, from the route table and the schemas of the entities. */
export function buildOpenApi({ routes, entities, version }: OpenApiSource): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const unnamed = entities.filter(({ endpointKey }) => endpointKey === null);
  const idOnly: IdOnly = {
    anywhere: new Set(unnamed.map(({ name }) => name)),
    nested: new Set(
      unnamed.filter(({ nestedUnder }) => nestedUnder.every(({ key }) => key === undefined)).map(({ name }) => name),
    ),
  };
  for (const route of routes) paths[route.path] = pathItem(route, idOnly);
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

/** Names of entities that only their id identifies, and of those where that is so below a parent, too. */
interface IdOnly {
  readonly anywhere: ReadonlySet<string>;
  readonly nested: ReadonlySet<string>;
}

function pathItem(route: AdminRoute, idOnly: IdOnly): JsonObject {
  const item: Record<string, unknown> = {};
  const names = [...route.path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name!);
  if (names.length > 0) item['parameters'] = names.map((name) => pathParameter(name, isIdOnly(route, name, idOnly)));
  for (const [method, operation] of Object.entries(route.operations) as [Method, Operation][]) {
    if (operation.notes.hidden !== true) item[method.toLowerCase()] = describeOperation(route, method, operation);
  }
  return item;
}

/** An SNI also identifies its certificate, and `host:port` a target. */
function isIdOnly(route: AdminRoute, name: string, { anywhere, nested }: IdOnly): boolean {
  if (name === 'certificates' || name === 'targets') return false;
  const isNested = route.path.indexOf('{') !== route.path.indexOf(`{${name}}`);
  return (isNested ? nested : anywhere).has(name);
}

function pathParameter(name: string, idOnly: boolean): JsonObject {
  const description = idOnly ? `Id (${name}).` : `Id or name (${name}).`;
  const schema = idOnly ? { type: 'string', format: 'uuid' } : { type: 'string', minLength: 1 };
  return { name, in: 'path', required: true, description, schema };
}

function describeOperation(route: AdminRoute, method: Method, { notes }: Operation): JsonObject {
  const parameters = [
    ...(notes.answer === 'list' ? listParameterRefs(route.path) : []),
    ...(notes.queryParameters ?? []).map(({ name, description, required = false, schema }) => {
      return { name, in: 'query', description, ...(required && { required }), schema: schema ?? { type: 'string' } };
    }),
  ];
  return {
    operationId: operationId(method, route.path),
    summary: notes.summary,
    tags: [route.tag],
    ...(parameters.length > 0 && { parameters }),
    ...(notes.takesBody === true && { requestBody: requestBody(method, notes.bodyEntity ?? notes.entity) }),
    responses: { ...success(notes), ...otherSuccesses(notes), ...failures(route, method, notes) },
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

const textTypes: Readonly<Record<string, string>> = { text: 'text/plain', events: 'text/event-stream' };

function success(notes: Operation['notes']): JsonObject {
  const status = String(notes.status ?? 200);
  if (notes.answer === 'none') return { [status]: { description: 'Done; the answer is empty.' } };
  const textType = textTypes[notes.answer];
  const content: Record<string, JsonObject> =
    textType === undefined
      ? { 'application/json': { schema: answerSchema(notes) } }
      : { [textType]: { schema: { type: 'string' } } };
  for (const type of notes.otherTypes ?? []) content[type] = { schema: { type: 'string' } };
  return { [status]: { description: notes.summary, content } };
}

function otherSuccesses({ otherStatuses = [] }: Operation['notes']): JsonObject {
  const content = { 'application/json': { schema: { type: 'object' } } };
  const statuses = otherStatuses.filter((status) => status < 400);
  return Object.fromEntries(statuses.map((status) => [status, { description: 'Success.', content }]));
}

function answerSchema(notes: Operation['notes']): JsonObject {
  if (notes.answer === 'object' || notes.entity === undefined) return { type: 'object' };
  return { $ref: `#/components/schemas/${notes.entity}${notes.answer === 'list' ? '_list' : ''}` };
}

function failures(route: AdminRoute, method: Method, notes: Operation['notes']): JsonObject {
  const statuses = new Set(['401', '403', '429', '500']);
  if (notes.takesBody === true) for (const status of ['400', '413', '415']) statuses.add(status);
  if (notes.answer === 'list' || notes.queryParameters !== undefined || method === 'DELETE') statuses.add('400');
  if (route.path.includes('{')) for (const status of ['400', '404']) statuses.add(status);
  if (notes.takesBody === true && notes.entity !== undefined) statuses.add('409');
  for (const status of notes.otherStatuses ?? []) if (status >= 400) statuses.add(String(status));
  statuses.delete(String(notes.status ?? 200));
  return Object.fromEntries([...statuses].sort().map((status) => [status, responseRef(status)]));
}
