import { isJsonObject, type JsonObject } from '../../../plugin-kit/json/index.ts';
import { pointerStep } from '../../../plugin-kit/json-schema/index.ts';
import { type OperationSource, serverPath } from '../../../plugin-kit/openapi/index.ts';
import { namesOf } from '../reference/security-names.ts';

/** Something in a document that an import leaves out. */
export interface ImportWarning {
  /** JSON pointer into the document. */
  readonly place: string;
  readonly message: string;
}

const maxWarnings = 100;

/** Keys of the gateway that an import reads. Those of plugins have any name. */
const knownKeys: ReadonlySet<string> = new Set([
  'x-kong-name',
  'x-kong-tags',
  'x-kong-service-defaults',
  'x-kong-route-defaults',
]);

/** The plugins that can demand what a security scheme describes, by its `type`, or `http` and its scheme. */
const authPlugins: Readonly<Record<string, string>> = {
  apiKey: 'key-auth',
  'http basic': 'basic-auth',
  'http bearer': 'jwt or openid-connect',
  oauth2: 'oauth2, jwt or openid-connect',
  openIdConnect: 'openid-connect',
  mutualTLS: 'mtls-auth',
};

/** What a plan of this document leaves out. */
export function warningsOf(document: JsonObject, operations: readonly OperationSource[]): readonly ImportWarning[] {
  const found: ImportWarning[] = [];
  const warn = (place: string, message: string): void => {
    if (found.length < maxWarnings) found.push({ place, message });
  };
  securityWarnings(document, operations, warn);
  if (document['webhooks'] !== undefined) warn('/webhooks', 'webhooks are requests to clients, and become no routes');
  const servers = document['servers'];
  if (Array.isArray(servers) && servers.length > 1) {
    warn('/servers', `the service has one address: ${servers.length - 1} more servers are left out`);
  }
  unknownKeys(document, '', warn);
  const paths = isJsonObject(document['paths']) ? document['paths'] : {};
  for (const [template, item] of Object.entries(paths)) {
    if (isJsonObject(item)) ignoredKeys(item, `/paths${pointerStep(template)}`, warn);
  }
  for (const { operation, pointer } of operations) {
    if (operation['callbacks'] !== undefined) {
      warn(`${pointer}/callbacks`, 'callbacks are requests of the backend, and become no routes');
    }
    otherServers(operation, pointer, warn);
    unknownKeys(operation, pointer, warn);
  }
  return found;
}

type Warn = (place: string, message: string) => void;

function securityWarnings(document: JsonObject, operations: readonly OperationSource[], warn: Warn): void {
  const components = isJsonObject(document['components']) ? document['components'] : {};
  const schemes = isJsonObject(components['securitySchemes']) ? components['securitySchemes'] : {};
  const demanded = new Set(namesOf(document['security']));
  for (const { operation } of operations) for (const name of namesOf(operation['security'])) demanded.add(name);
  for (const name of demanded) {
    const scheme = Object.hasOwn(schemes, name) ? schemes[name] : undefined;
    const plugin = isJsonObject(scheme) ? pluginFor(scheme) : null;
    const plugins = plugin === null ? [] : plugin.split(/, | or /);
    const declared = [document, ...operations.map(({ operation }) => operation)].some((owner) =>
      plugins.some((one) => owner[`x-kong-plugin-${one}`] !== undefined),
    );
    if (declared) continue;
    const add = plugin === null ? 'add an authentication plugin' : `add the plugin ${plugin}`;
    warn(
      `/components/securitySchemes${pointerStep(name)}`,
      `the security scheme ${JSON.stringify(name)} is shown in the reference, and not enforced: ${add}`,
    );
  }
}

function pluginFor(scheme: JsonObject): string | null {
  const { type, scheme: way } = scheme;
  const key = type === 'http' ? `http ${String(way).toLowerCase()}` : String(type);
  return Object.hasOwn(authPlugins, key) ? (authPlugins[key] ?? null) : null;
}

/** Only the path of such a server becomes part of the route. */
function otherServers(operation: JsonObject, pointer: string, warn: Warn): void {
  const servers = operation['servers'];
  if (!Array.isArray(servers)) return;
  const hosts = servers.filter((server) => {
    const url = isJsonObject(server) ? server['url'] : undefined;
    return typeof url === 'string' && url.replace(/\/+$/, '') !== serverPath(url);
  });
  if (hosts.length > 0)
    warn(`${pointer}/servers`, 'only the paths of these servers are used: the service has one host');
}

function unknownKeys(owner: JsonObject, pointer: string, warn: Warn): void {
  for (const key of kongKeys(owner)) {
    if (knownKeys.has(key) || key.startsWith('x-kong-plugin-')) continue;
    warn(pointer + pointerStep(key), `${key} is not supported`);
  }
}

function ignoredKeys(item: JsonObject, pointer: string, warn: Warn): void {
  for (const key of kongKeys(item)) {
    warn(pointer + pointerStep(key), `${key} is read at the document and at operations, not at a path`);
  }
}

function kongKeys(owner: JsonObject): readonly string[] {
  return Object.keys(owner).filter((key) => key.startsWith('x-kong-'));
}
