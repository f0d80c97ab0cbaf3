import { isJsonObject, type JsonObject, type JsonValue } from '../json/index.ts';
import { pointerStep, SchemaError } from '../json-schema/index.ts';
import { type Located, resolved } from './references.ts';

/** An operation of the document. */
export interface OperationSource {
  /** In upper case. */
  readonly method: string;
  /** `/users/{id}`. */
  readonly template: string;
  readonly pointer: string;
  readonly operation: JsonObject;
  readonly id: string | null;
  /** Paths of the servers: `/v1`, or '' for the root. */
  readonly basePaths: readonly string[];
  /** Its own parameters, and those of its path that it does not override. */
  readonly parameters: readonly Located<JsonObject>[];
}

const methods = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];
const besideMethods = new Set(['summary', 'description', 'servers', 'parameters', '$ref']);
const ofOperations = new Set(
  'tags summary description externalDocs operationId parameters requestBody responses callbacks deprecated security servers'.split(
    ' ',
  ),
);
const maxOperations = 5_000;

/** All operations of a document. Throws a `SchemaError` for an invalid document. */
export function readOperations(document: JsonObject): readonly OperationSource[] {
  const { paths = {} } = document;
  if (!isJsonObject(paths)) throw new SchemaError('/paths', 'must be an object');
  const operations: OperationSource[] = [];
  const ids = new Set<string>();
  for (const [template, item] of Object.entries(paths)) {
    if (template.startsWith('x-')) continue;
    const pointer = `/paths${pointerStep(template)}`;
    if (!template.startsWith('/')) throw new SchemaError(pointer, 'a path must begin with a slash');
    operations.push(...operationsOf(document, template, resolved(document, { value: item, pointer })));
    if (operations.length > maxOperations) throw new SchemaError(pointer, `more than ${maxOperations} operations`);
  }
  // Every request would be answered with 404.
  if (operations.length === 0) throw new SchemaError('/paths', 'there is no operation');
  for (const { id, pointer } of operations) {
    if (id !== null && ids.has(id))
      throw new SchemaError(`${pointer}/operationId`, 'another operation has the same one');
    if (id !== null) ids.add(id);
  }
  return operations;
}

function operationsOf(document: JsonObject, template: string, item: Located<JsonObject>): readonly OperationSource[] {
  const found: OperationSource[] = [];
  for (const [name, value] of Object.entries(item.value)) {
    const pointer = item.pointer + pointerStep(name);
    if (!methods.includes(name)) {
      if (besideMethods.has(name) || name.startsWith('x-')) continue;
      throw new SchemaError(pointer, 'a path has nothing of this name');
    }
    if (!isJsonObject(value)) throw new SchemaError(pointer, 'must be an object');
    for (const field of Object.keys(value)) {
      if (!ofOperations.has(field) && !field.startsWith('x-')) {
        throw new SchemaError(pointer + pointerStep(field), 'an operation has nothing of this name');
      }
    }
    found.push({
      method: name.toUpperCase(),
      template,
      pointer,
      operation: value,
      id: textOf(value, 'operationId', pointer),
      basePaths: basePathsOf(document, item, { value, pointer }),
      parameters: parametersOf(document, item, { value, pointer }, template),
    });
  }
  return found;
}

function parametersOf(
  document: JsonObject,
  item: Located<JsonObject>,
  operation: Located<JsonObject>,
  template: string,
): readonly Located<JsonObject>[] {
  const found = new Map<string, Located<JsonObject>>();
  for (const { value, pointer } of [item, operation]) {
    const seen = new Set<string>();
    for (const [at, one] of listOf(value['parameters'], `${pointer}/parameters`).entries()) {
      const parameter = resolved(document, { value: one, pointer: `${pointer}/parameters/${at}` });
      const name = textOf(parameter.value, 'name', parameter.pointer);
      const place = textOf(parameter.value, 'in', parameter.pointer);
      if (name === null || !['path', 'query', 'header', 'cookie'].includes(place ?? '')) {
        throw new SchemaError(parameter.pointer, 'a parameter needs a name, and path, query, header or cookie in `in`');
      }
      const key = `${place} ${place === 'header' ? name.toLowerCase() : name}`;
      if (seen.has(key)) throw new SchemaError(parameter.pointer, 'the same parameter stands there before');
      seen.add(key);
      found.set(key, parameter);
    }
  }
  const wanted = [...template.matchAll(/\{([^{}]*)\}/g)].map(([, name]) => `path ${name}`);
  for (const key of wanted) {
    if (!found.has(key))
      throw new SchemaError(operation.pointer, `the parameter ${key.slice(5)} of its path is not declared`);
  }
  for (const [key, { pointer }] of found) {
    if (key.startsWith('path ') && !wanted.includes(key))
      throw new SchemaError(pointer, 'the path has no such parameter');
  }
  return [...found.values()];
}

function basePathsOf(
  document: JsonObject,
  item: Located<JsonObject>,
  operation: Located<JsonObject>,
): readonly string[] {
  const owner = [operation, item, { value: document, pointer: '' }].find(({ value }) =>
    Array.isArray(value['servers']),
  );
  const servers = owner === undefined ? [] : listOf(owner.value['servers'], `${owner.pointer}/servers`);
  if (servers.length === 0) return [''];
  const urls = servers.map((server, at) => serverUrl(server, `${owner?.pointer ?? ''}/servers/${at}`));
  return [...new Set(urls.map(serverPath))];
}

/** `/v1` of `https://example.com/v1/`; '' for the root. */
export function serverPath(url: string): string {
  return url.replace(/^[a-z][a-z0-9+.-]*:\/\/[^/]*|^\/\/[^/]*/i, '').replace(/[/?#]*$/, '');
}

/** The URL of a server with the defaults of its variables. */
export function serverUrl(server: JsonValue, pointer: string): string {
  const url = isJsonObject(server) ? server['url'] : undefined;
  if (typeof url !== 'string') throw new SchemaError(pointer, 'a server needs a url');
  const variables = isJsonObject(server) && isJsonObject(server['variables']) ? server['variables'] : {};
  return url.replace(/\{([^{}]+)\}/g, (_, name: string) => {
    const variable = Object.hasOwn(variables, name) ? variables[name] : undefined;
    const value = isJsonObject(variable) ? variable['default'] : undefined;
    if (typeof value !== 'string') throw new SchemaError(pointer, `the variable ${name} has no default`);
    return value;
  });
}

function textOf(object: JsonObject, name: string, pointer: string): string | null {
  const value = object[name];
  if (value === undefined) return null;
  if (typeof value !== 'string' || value === '') throw new SchemaError(`${pointer}/${name}`, 'must be a text');
  return value;
}

function listOf(value: JsonValue | undefined, pointer: string): readonly JsonValue[] {
  if (value === undefined) return [];
  if (!Array.isArray(value)) throw new SchemaError(pointer, 'must be a list');
  return value;
}
