import { isJsonObject, type JsonObject, type JsonValue } from '../../../plugin-kit/json/index.ts';
import { pointerStep, SchemaError } from '../../../plugin-kit/json-schema/index.ts';
import {
  apiProblem,
  type OperationSource,
  readOperations,
  serverPath,
  serverUrl,
} from '../../../plugin-kit/openapi/index.ts';
import { derivedId } from '../../../shared/util/derived-id.ts';
import { routePath, routePriority } from './route-path.ts';

export interface PlanOptions {
  /** Name of the service. Default: the title of the document. */
  readonly name: string | null;
  /** A number (from 1) of a server of the document, or a URL. Default: the first server. */
  readonly server: string | null;
  /** Prefix of the names of routes. */
  readonly routePrefix: string;
  readonly tags: readonly string[];
  /** Add the plugin `openapi` with the document to the service. */
  readonly validate: boolean;
}

export interface PlannedPlugin {
  /** Always the same for the same document, so that another run finds it. */
  readonly id: string;
  readonly fields: JsonObject;
  /** Its place in the document, a JSON pointer. */
  readonly place: string;
}

export interface PlannedRoute {
  readonly name: string;
  readonly fields: JsonObject;
  /** As of a plugin. */
  readonly place: string;
  readonly plugins: readonly PlannedPlugin[];
}

/** The entities that a document describes. */
export interface Plan {
  readonly service: string;
  readonly fields: JsonObject;
  readonly plugins: readonly PlannedPlugin[];
  readonly routes: readonly PlannedRoute[];
}

/** Throws a `SchemaError` with the place in the document. */
export function planOf(document: JsonObject, text: string, options: PlanOptions): Plan {
  const problem = apiProblem({ document: text, file: null, base_path: null });
  if (problem !== null) throw new SchemaError('', problem);
  const operations = readOperations(document);
  const service = options.name ?? named(document) ?? nameOf(titleOf(document));
  if (!/[A-Za-z0-9]/.test(service))
    throw new SchemaError(
      '/info/title',
      'has no characters for the name of the service: choose one with the option name',
    );
  const tags = [...new Set([...options.tags, ...textsOf(document['x-kong-tags'])])];
  const names = new Set<string>();
  const server = chosenServer(document, options.server);
  const routes = operations.map((source) => {
    const route = routeOf(source, document, service, options.routePrefix, tags, names);
    const paths = basePathsOf(source, document, server).map((base) => routePath(base + source.template));
    return { ...route, fields: { paths, ...route.fields } };
  });
  const own = pluginsOf(document, '', `service ${service}`, tags);
  if (options.validate) {
    own.push({
      id: derivedId(`service ${service} openapi`),
      fields: { name: 'openapi', config: { document: text }, ...tagged(tags) },
      place: '',
    });
  }
  const defaults = defaultsOf(document, 'x-kong-service-defaults', '');
  return { service, fields: { ...server.address, ...tagged(tags), ...defaults }, plugins: own, routes };
}

function routeOf(
  source: OperationSource,
  document: JsonObject,
  service: string,
  prefix: string,
  tags: readonly string[],
  names: Set<string>,
): PlannedRoute {
  const { operation, method, pointer, template } = source;
  const unnamed = `${service}-${method.toLowerCase()}${template === '/' ? '-root' : template}`;
  const name = unique(prefix + (named(operation) ?? nameOf(source.id ?? unnamed)), names);
  const declared = Object.keys(objectAt(document, 'paths', template));
  const fields: JsonObject = {
    methods: method === 'GET' && !declared.includes('head') ? ['GET', 'HEAD'] : [method],
    regex_priority: routePriority(template),
    strip_path: false,
    ...tagged([...new Set([...tags, ...textsOf(operation['x-kong-tags'])])]),
    ...defaultsOf(document, 'x-kong-route-defaults', ''),
    ...defaultsOf(operation, 'x-kong-route-defaults', pointer),
  };
  return { name, fields, place: pointer, plugins: pluginsOf(operation, pointer, `route ${name}`, tags) };
}

/** Without tags, those that were set by hand are kept. */
function tagged(tags: readonly string[]): JsonObject {
  return tags.length === 0 ? {} : { tags: [...tags] };
}

interface Server {
  readonly address: JsonObject;
  /** Part of the paths of the routes, so that clients only have to change the host. */
  readonly basePath: string;
}

function chosenServer(document: JsonObject, choice: string | null): Server {
  const servers = Array.isArray(document['servers']) ? document['servers'] : [];
  const isUrl = choice !== null && !/^\d{1,4}$/.test(choice);
  const at = choice === null || isUrl ? 1 : Number(choice);
  const server = servers[at - 1];
  if (server === undefined && choice !== null && !isUrl)
    throw new SchemaError('/servers', `there is no server ${choice}`);
  const described = server === undefined ? '' : serverUrl(server, `/servers/${at - 1}`);
  const basePath = serverPath(described);
  const url = httpUrl(isUrl ? choice : described);
  const own = serverPath(url.href);
  if (own !== '' && own !== basePath) {
    throw new SchemaError(
      '/servers',
      `the path of the option server must be that of the document (${basePath || '/'}), or left out`,
    );
  }
  const protocol = url.protocol.slice(0, -1);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return {
    address: { protocol, host, port: Number(url.port) || (protocol === 'https' ? 443 : 80), path: null },
    basePath,
  };
}

function httpUrl(text: string): URL {
  if (/^https?:\/\/[^/]/.test(text) && URL.canParse(text)) return new URL(text);
  throw new SchemaError('/servers', 'there is no server with an http or https URL: choose one with the option server');
}

/** Operations without servers of their own use the chosen server of the document. */
function basePathsOf(
  { basePaths, operation, template }: OperationSource,
  document: JsonObject,
  { basePath }: Server,
): readonly string[] {
  const own = Array.isArray(operation['servers']) || Array.isArray(objectAt(document, 'paths', template)['servers']);
  return own ? basePaths : [basePath];
}

function pluginsOf(owner: JsonObject, pointer: string, of: string, tags: readonly string[]): PlannedPlugin[] {
  return Object.entries(owner).flatMap(([key, value]) => {
    const name = /^x-kong-plugin-(.+)$/.exec(key)?.[1];
    if (name === undefined) return [];
    if (!isJsonObject(value)) throw new SchemaError(pointer + pointerStep(key), 'must be an object');
    const fields: JsonObject = { ...tagged(tags), ...value };
    fields['name'] ??= name;
    return [{ id: derivedId(`${of} ${name}`), fields, place: pointer + pointerStep(key) }];
  });
}

function defaultsOf(owner: JsonObject, key: string, pointer: string): JsonObject {
  const value = owner[key];
  if (value === undefined) return {};
  if (!isJsonObject(value)) throw new SchemaError(`${pointer}/${key}`, 'must be an object');
  return value;
}

function named(owner: JsonObject): string | null {
  const name = owner['x-kong-name'];
  return typeof name === 'string' ? nameOf(name) : null;
}

function titleOf(document: JsonObject): string {
  const title = objectAt(document, 'info')['title'];
  return typeof title === 'string' ? title.toLowerCase() : '';
}

function nameOf(text: string): string {
  return text.replace(/[^A-Za-z0-9._~-]+/g, '-').replace(/^-+|-+$/g, '');
}

function unique(name: string, names: Set<string>): string {
  let free = name;
  for (let serial = 2; names.has(free); serial++) free = `${name}-${serial}`;
  names.add(free);
  return free;
}

function textsOf(value: JsonValue | undefined): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

function objectAt(object: JsonObject, ...path: readonly string[]): JsonObject {
  let value: JsonValue | undefined = object;
  for (const name of path) value = isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
  return isJsonObject(value) ? value : {};
}
